//! What is carried from around a block: the label above, and the items that it stands in.

use super::heading::shorten;
use super::reader::Reader;
use super::units::Carried;

/// Most tokens of a list item's first line that are carried.
const MAX_PARENT_TOKENS: usize = 40;

impl Reader<'_> {
    /// The label above and the first lines of the outer `depth` items around.
    pub(super) fn carry_parents(&mut self, depth: usize) -> Option<usize> {
        let parents = self.parents(depth);
        if parents.is_empty() {
            return None;
        }
        let parent_tokens = self.tokens.count_other(&parents);
        Some(self.carry(Carried { parents, parent_tokens, ..Carried::default() }))
    }

    pub(super) fn carry(&mut self, carried: Carried) -> usize {
        if self.outline.carried.last() != Some(&carried) {
            self.outline.carried.push(carried);
        }
        self.outline.carried.len() - 1
    }

    pub(super) fn parents(&self, depth: usize) -> String {
        // Items that begin on one line are carried by that line.
        let mut lines: Vec<usize> =
            self.items.iter().take(depth).map(|item| self.line_start(item.start)).collect();
        lines.dedup();
        let label = self.label.clone().map(|range| self.text(range).trim());
        let mut parents = label.map(|label| format!("{label}\n\n")).unwrap_or_default();
        let keep = lines.len().saturating_sub(3);
        for start in lines.into_iter().skip(keep) {
            let rest = self.text(start..self.input.markdown.len());
            let line = rest.lines().next().unwrap_or_default().trim_end();
            let line = shorten(line, MAX_PARENT_TOKENS.min(self.budget / 4));
            if !line.contains("```") && !line.contains("~~~") && !line.trim_start().starts_with('|')
            {
                parents.push_str(line);
                parents.push('\n');
            }
        }
        parents
    }
}
