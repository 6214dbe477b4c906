//! Headings: what they say, and the breadcrumbs that they form.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::tokens::TokenMap;
use super::units::OutlineHeading;
use crate::model::collapse;

/// Most tokens of a breadcrumb for chunks of `budget` tokens: an eighth, at most 32. Outer
/// headings go first, since longer ones cost more recall than they bring.
fn max_breadcrumb(budget: usize) -> usize {
    (budget / 8).min(32)
}

/// The headings above a chunk, as one paragraph of Markdown.
#[derive(Clone, Debug, Default)]
pub(super) struct Breadcrumb {
    /// As many of the headings as have room, the innermost always.
    pub(super) full: String,
    /// The innermost alone.
    pub(super) short: String,
    /// Tokens of `full`.
    pub(super) tokens: usize,
}

impl Breadcrumb {
    /// Joins `names`, outermost first. The innermost stands as it is written where that is
    /// short, so that it can be found again; the others without the destinations of links.
    pub(super) fn new(names: &[Name<'_>], tokens: &TokenMap<'_>, budget: usize) -> Self {
        let most = max_breadcrumb(budget);
        let fits = |line: &str| tokens.count_other(line) < most;
        let Some((innermost, above)) = names.split_last() else { return Self::default() };
        let innermost = if fits(innermost.source) {
            innermost.source
        } else {
            shorten(innermost.unlinked, budget / 4)
        };
        let fitting = (0..=above.len()).find_map(|outer| {
            let above = above.get(outer..)?.iter().map(|name| name.unlinked);
            let line = above.chain([innermost]).collect::<Vec<_>>().join(" > ");
            fits(&line).then_some(line)
        });
        let paragraph =
            |line: &str| if line.is_empty() { String::new() } else { format!("{line}\n\n") };
        let short = paragraph(innermost);
        let full = fitting.map_or_else(|| short.clone(), |line| paragraph(&line));
        Self { tokens: tokens.count_other(&full), full, short }
    }

    /// The breadcrumbs of all `headings`, each with its own name last. Where no main heading
    /// stands above them, the page's `title` does.
    pub(super) fn all(
        headings: &[OutlineHeading],
        title: Option<Name<'_>>,
        tokens: &TokenMap<'_>,
        budget: usize,
    ) -> Vec<Self> {
        let has_main_heading = headings.iter().any(|heading| heading.level == 1);
        let title = title.filter(|_| !has_main_heading);
        let breadcrumb = |heading: &OutlineHeading| {
            let above = |heading: &&OutlineHeading| heading.parent.and_then(|n| headings.get(n));
            let mut names: Vec<Name<'_>> = std::iter::successors(Some(heading), above)
                .map(|heading| Name { source: &heading.source, unlinked: &heading.unlinked })
                .filter(|name| !name.unlinked.is_empty())
                .chain(title)
                .collect();
            names.reverse();
            Self::new(&names, tokens, budget)
        };
        headings.iter().map(breadcrumb).collect()
    }
}

/// A heading's Markdown.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    /// As it is written.
    pub(super) source: &'a str,
    /// Without the destinations of links.
    pub(super) unlinked: &'a str,
}

/// A heading that is being read.
pub(super) struct OpenHeading {
    /// Its text, without marks.
    plain: String,
    /// Where its text begins.
    start: usize,
    /// Its Markdown, without the destinations of links.
    unlinked: String,
    /// What has yet to be copied to `unlinked`: it begins here, or with the next event.
    from: Option<usize>,
    /// Where the last inline ended.
    end: usize,
}

impl OpenHeading {
    /// Opens the heading at `range`.
    pub(super) fn new(markdown: &str, range: &Range<usize>) -> Self {
        let source = markdown.get(range.clone()).unwrap_or_default();
        let content = source.trim_start_matches('#').trim_start_matches([' ', '\t']);
        let start = range.start + (source.len() - content.len());
        Self { plain: String::new(), unlinked: String::new(), start, from: Some(start), end: start }
    }

    /// Reads an event inside the heading of the document `markdown`.
    pub(super) fn event(&mut self, markdown: &str, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => {
                self.copy(markdown, range.start);
                return;
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                self.copy(markdown, self.end);
                self.from = Some(range.end);
                self.end = range.end;
                return;
            }
            Event::Text(text) | Event::Code(text) => self.plain.push_str(text),
            Event::SoftBreak | Event::HardBreak => self.plain.push(' '),
            _ => {}
        }
        self.from.get_or_insert_with(|| {
            let is_escaped = markdown.get(..range.start).is_some_and(|text| text.ends_with('\\'));
            range.start - usize::from(is_escaped)
        });
        self.end = self.end.max(range.end);
    }

    /// Writes what the heading of the document `markdown` says.
    pub(super) fn close(mut self, markdown: &str, heading: &mut OutlineHeading) {
        self.copy(markdown, self.end);
        heading.text = collapse(&self.plain);
        heading.unlinked = collapse(&self.unlinked);
        heading.source = collapse(markdown.get(self.start..self.end).unwrap_or_default());
    }

    fn copy(&mut self, markdown: &str, end: usize) {
        if let Some(text) = self.from.take().and_then(|from| markdown.get(from..end)) {
            self.unlinked.push_str(text);
        }
    }
}

/// `line` up to a word boundary within about `tokens` tokens, before anything that would have to
/// be closed.
pub(super) fn shorten(line: &str, tokens: usize) -> &str {
    let most = tokens * 3;
    if line.len() <= most {
        return line;
    }
    let cut = line.get(..line.floor_char_boundary(most)).unwrap_or_default();
    let open = cut.find(['`', '[', '*', '<']).unwrap_or(cut.len());
    let end = cut.get(..open).and_then(|text| text.rfind(' ')).unwrap_or(open);
    let kept = cut.get(..end).unwrap_or_default();
    if kept.trim().len() < 4 { "" } else { kept }
}
