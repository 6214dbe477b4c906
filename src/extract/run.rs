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
    marks: Vec<OpenMark>,
    opened: usize,
    has_space: bool,
    breaks: usize,
    code: CodeState,
}

#[derive(Debug)]
struct OpenMark {
    mark: Mark,
    /// Whether it has said what it has to say: a link is written once, not again in every block
    /// that it holds.
    is_spent: bool,
}

/// Whether text is code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CodeState {
    #[default]
    Off,
    /// It is, and the next word begins a stretch of its own.
    Fresh,
    /// It is, and the next word goes on the stretch before.
    Begun,
}

impl Run {
    /// Adds text. White space in it collapses with that around it.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let words = rest.trim_start_matches(is_space);
            self.has_space |= words.len() < rest.len();
            if words.is_empty() {
                return;
            }
            let (words, after) = words.split_at(collapsed_len(words));
            self.words(words);
            rest = after;
        }
    }

    /// Adds words with single spaces between.
    fn words(&mut self, words: &str) {
        if self.code != CodeState::Off {
            return self.code_words(words);
        }
        self.settle();
        match self.items.last_mut() {
            Some(Inline::Text(before)) => before.push_str(words),
            _ => self.items.push(Inline::Text(words.to_owned())),
        }
    }

    /// Adds words of code to the stretch before, where nothing stands between.
    fn code_words(&mut self, words: &str) {
        let is_inside = self.breaks == 0 && self.opened == self.marks.len();
        let goes_on = is_inside && (self.code == CodeState::Begun || !self.has_space);
        self.code = CodeState::Begun;
        if let (true, Some(Inline::Code(before))) = (goes_on, self.items.last_mut()) {
            if self.has_space {
                before.push(' ');
            }
            before.push_str(words);
            self.has_space = false;
            return;
        }
        self.settle();
        match self.items.last_mut() {
            Some(Inline::Code(before)) => before.push_str(words),
            _ => self.items.push(Inline::Code(words.to_owned())),
        }
    }

    /// Makes what follows code, and says whether it was not before.
    pub(super) fn begin_code(&mut self) -> bool {
        let begins = self.code == CodeState::Off;
        if begins {
            self.code = CodeState::Fresh;
        }
        begins
    }

    /// Makes what follows text again.
    pub(super) fn end_code(&mut self) {
        self.code = CodeState::Off;
    }

    /// Whether what follows is code.
    pub(super) fn is_code(&self) -> bool {
        self.code != CodeState::Off
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
    pub(super) fn open(&mut self, mark: Mark) -> bool {
        let is_new = !self.marks.iter().any(|outer| outer.mark.is_same_kind(&mark));
        if is_new {
            self.marks.push(OpenMark { mark, is_spent: false });
        }
        is_new
    }

    /// Ends the innermost mark.
    pub(super) fn close(&mut self) {
        let is_written = self.opened == self.marks.len();
        let Some(OpenMark { mark, is_spent }) = self.marks.pop() else { return };
        self.opened = self.opened.min(self.marks.len());
        if is_written && !is_spent {
            self.items.push(Inline::Close(mark));
        }
    }

    /// Whether there is no content.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the content. Marks in force end with it and begin again with the next content, save
    /// links.
    pub(super) fn take(&mut self) -> Vec<Inline> {
        for open in self.marks.iter_mut().take(self.opened).rev().filter(|open| !open.is_spent) {
            self.items.push(Inline::Close(open.mark.clone()));
            open.is_spent = matches!(open.mark, Mark::Link(_));
        }
        self.opened = 0;
        self.has_space = false;
        self.breaks = 0;
        if self.code == CodeState::Begun {
            self.code = CodeState::Fresh;
        }
        // The page keeps what it needs, the run its room.
        self.items.drain(..).collect()
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
        while let Some(open) = self.marks.get(self.opened) {
            self.opened += 1;
            if open.is_spent {
                continue;
            }
            // `<b>a</b><b>b</b>` is one stretch.
            if matches!(self.items.last(), Some(Inline::Close(before)) if *before == open.mark) {
                self.items.pop();
            } else {
                self.items.push(Inline::Open(open.mark.clone()));
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

/// White space that collapses: that of HTML, and every other that only separates words for a
/// reader (no-break and ideographic spaces).
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// How many bytes at the start of `text`, which begins with a word, are words with single spaces
/// between.
fn collapsed_len(text: &str) -> usize {
    let mut spaces = text.char_indices().filter(|(_, c)| is_space(*c));
    let is_single = |at: usize| {
        let after = text.get(at + 1..).and_then(|after| after.chars().next());
        after.is_some_and(|c| !is_space(c))
    };
    spaces.find(|(at, c)| *c != ' ' || !is_single(*at)).map_or(text.len(), |(at, _)| at)
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
        run.open(Mark::Strong);
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
        run.open(Mark::Emphasis);
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
            run.open(Mark::Strong);
            run.text(word);
            run.close();
        }
        let want = [Inline::Open(Mark::Strong), text("ab"), Inline::Close(Mark::Strong)];
        assert_eq!(run.take(), want);
    }

    #[test]
    fn marks_in_force_begin_again_after_a_block_boundary() {
        let mut run = Run::default();
        run.open(Mark::Strong);
        run.text("a");
        let first = run.take();
        run.text("b");
        assert_eq!(first.len(), 3);
        assert_eq!(run.take().len(), 3);
    }
}
