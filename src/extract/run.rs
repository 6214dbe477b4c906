//! Collects a run of inline content, white space collapsed as CSS does (CSS Text 3 §4.1.1).
//!
//! White space, breaks and marks wait until content follows. So a run never begins or ends with
//! white space or a break, white space stands outside the marks that it touches, and a mark
//! around nothing never appears.

use super::piece::{Inline, Mark};

/// A run of inline content in the making.
#[derive(Debug, Default)]
pub(super) struct Run {
    items: Vec<Inline>,
    /// Marks in force, outermost first; those from `opened` on are not yet in `items`.
    marks: Vec<Mark>,
    opened: usize,
    has_space: bool,
    breaks: usize,
}

impl Run {
    /// Adds text. White space in it collapses with that around it.
    pub(super) fn text(&mut self, text: &str) {
        let mut words = text.split(is_space);
        let Some(first) = words.next() else { return };
        self.word(first);
        for word in words {
            self.space();
            self.word(word);
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        self.settle();
        match self.items.last_mut() {
            Some(Inline::Text(before)) => before.push_str(word),
            _ => self.items.push(Inline::Text(word.to_owned())),
        }
    }

    /// Adds white space.
    pub(super) fn space(&mut self) {
        self.has_space = true;
    }

    /// Adds a line break.
    pub(super) fn line_break(&mut self) {
        self.breaks += 1;
    }

    /// Line breaks since the last content.
    pub(super) fn pending_breaks(&self) -> usize {
        if self.items.is_empty() { 0 } else { self.breaks }
    }

    /// Makes what follows begin a new line, where there is something before.
    pub(super) fn ensure_break(&mut self) {
        self.breaks = self.breaks.max(1);
    }

    /// Adds content other than text.
    pub(super) fn content(&mut self, inline: Inline) {
        self.settle();
        self.items.push(inline);
    }

    /// Begins `mark`, and says whether it does: a mark inside another of its kind says nothing.
    pub(super) fn open(&mut self, mark: &Mark) -> bool {
        let is_new = !self.marks.iter().any(|outer| outer.is_same_kind(mark));
        if is_new {
            self.marks.push(mark.clone());
        }
        is_new
    }

    /// Ends the innermost mark.
    pub(super) fn close(&mut self) {
        if self.opened == self.marks.len() {
            self.opened = self.opened.saturating_sub(1);
            self.items.extend(self.marks.pop().map(Inline::Close));
        } else {
            self.marks.pop();
        }
    }

    /// Marks in force, outermost first.
    pub(super) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Whether there is no content.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the content. Marks in force end with it and begin again with the next content.
    pub(super) fn take(&mut self) -> Vec<Inline> {
        let open = self.marks.get(..self.opened).unwrap_or_default();
        self.items.extend(open.iter().rev().cloned().map(Inline::Close));
        self.opened = 0;
        self.has_space = false;
        self.breaks = 0;
        std::mem::take(&mut self.items)
    }

    /// Writes what waits: breaks or white space, then marks.
    fn settle(&mut self) {
        if !self.items.is_empty() {
            if self.breaks > 0 {
                self.items.extend(std::iter::repeat_n(Inline::Break, self.breaks.min(2)));
            } else if self.has_space {
                self.push_space();
            }
        }
        self.breaks = 0;
        self.has_space = false;
        while let Some(mark) = self.marks.get(self.opened).cloned() {
            self.opened += 1;
            // `<b>a</b><b>b</b>` is one stretch.
            if self.items.last() == Some(&Inline::Close(mark.clone())) {
                self.items.pop();
            } else {
                self.items.push(Inline::Open(mark));
            }
        }
    }

    fn push_space(&mut self) {
        match self.items.last_mut() {
            Some(Inline::Text(before)) => before.push(' '),
            _ => self.items.push(Inline::Text(" ".to_owned())),
        }
    }
}

/// White space that collapses: that of HTML, and the no-break space, which separates words for a
/// reader as any other.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Inline {
        Inline::Text(text.to_owned())
    }

    #[test]
    fn white_space_moves_out_of_marks() {
        let mut run = Run::default();
        run.text(" a");
        run.open(&Mark::Strong);
        run.text(" b ");
        run.close();
        run.text("c ");
        let want = [
            text("a "),
            Inline::Open(Mark::Strong),
            text("b"),
            Inline::Close(Mark::Strong),
            text(" c"),
        ];
        assert_eq!(run.take(), want);
    }

    #[test]
    fn marks_around_nothing_and_breaks_at_the_edges_vanish() {
        let mut run = Run::default();
        run.line_break();
        run.open(&Mark::Emphasis);
        run.text(" \n ");
        run.close();
        run.text("a");
        run.line_break();
        assert_eq!(run.take(), [text("a")]);
    }

    #[test]
    fn adjacent_marks_of_one_kind_join() {
        let mut run = Run::default();
        for word in ["a", "b"] {
            run.open(&Mark::Strong);
            run.text(word);
            run.close();
        }
        let want = [Inline::Open(Mark::Strong), text("ab"), Inline::Close(Mark::Strong)];
        assert_eq!(run.take(), want);
    }

    #[test]
    fn marks_in_force_begin_again_after_a_block_boundary() {
        let mut run = Run::default();
        run.open(&Mark::Strong);
        run.text("a");
        let first = run.take();
        run.text("b");
        assert_eq!(first.len(), 3);
        assert_eq!(run.take().len(), 3);
    }
}
