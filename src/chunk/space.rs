//! White space in one form, for what is hashed: a blank line more makes no new chunk.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::units::Outline;

impl Outline {
    /// Notes where white space of `markdown` says something: inside of what it encloses.
    pub(super) fn note_space(&mut self, markdown: &str, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)
            | Event::Code(_)
            | Event::InlineHtml(_) => {
                let seen = markdown.get(range.clone()).unwrap_or_default().trim_end().len();
                self.verbatim.push(range.start..range.start + seen);
            }
            Event::HardBreak => self.verbatim.push(range.clone()),
            Event::Start(Tag::List(_))
                if self.lists.last().is_none_or(|last| last.end <= range.start) =>
            {
                self.lists.push(range.clone());
            }
            _ => {}
        }
    }
}

/// What a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// A chunk, behind which others stand.
    Chunk,
    /// The document.
    Document,
}

/// What the indentation in a stretch of white space says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Indentation {
    Something,
    Nothing,
}

/// `text` with its white space in one form: none at the end of a line, a single blank between
/// words, a single blank line between blocks, no indentation, and a line end as the last of it
/// where it `ends` its document. Borrowed where it is so already, as all is that was
/// converted from HTML.
///
/// Indentation stays where it `says` something: inside a list. So do the stretches `verbatim`:
/// code, HTML, and line breaks.
pub(super) fn in_one_form(
    text: &str,
    verbatim: impl Iterator<Item = Range<usize>>,
    says: impl Fn(usize) -> bool,
    ends: Ends,
) -> Cow<'_, str> {
    let mut plain = String::new();
    let (mut copied, mut at) = (0, 0);
    for range in verbatim.chain(std::iter::once(text.len()..text.len())) {
        while let Some(run) = next_run(text, at, range.start) {
            at = run.end;
            let is_before_code = run.end == range.start && !range.is_empty();
            let says = is_before_code || says(run.end);
            let says = if says { Indentation::Something } else { Indentation::Nothing };
            let form = form(text, &run, says, ends);
            if text.get(run.clone()) != Some(form.as_ref()) {
                plain.push_str(text.get(copied..run.start).unwrap_or_default());
                plain.push_str(&form);
                copied = run.end;
            }
        }
        at = at.max(range.end);
    }
    if copied == 0 && plain.is_empty() {
        return Cow::Borrowed(text);
    }
    plain.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(plain)
}

/// The first stretch of white space in `text` from `at` on that begins before `end`, single blanks
/// between words aside.
fn next_run(text: &str, at: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes().get(..end)?;
    let is_space = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
    let mut start = at;
    loop {
        start += bytes.get(start..)?.iter().position(u8::is_ascii_whitespace)?;
        let is_between = start > at && start + 1 < bytes.len();
        if bytes.get(start) != Some(&b' ') || !is_between || is_space(start + 1) {
            break;
        }
        start += 2;
    }
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
    Some(start..start + length)
}

/// The form of a stretch of white space.
fn form<'a>(text: &'a str, run: &Range<usize>, says: Indentation, ends: Ends) -> Cow<'a, str> {
    let space = text.get(run.clone()).unwrap_or_default();
    let is_end = run.end == text.len();
    let Some((lines, indentation)) = space.rsplit_once('\n') else {
        return Cow::Borrowed(match says {
            Indentation::Something if run.start == 0 && !is_end => space,
            Indentation::Nothing if run.start == 0 && !is_end => "",
            _ => " ",
        });
    };
    let is_last = is_end && ends == Ends::Document;
    let line_ends = if is_last || !lines.contains('\n') { "\n" } else { "\n\n" };
    if is_end || indentation.is_empty() || says == Indentation::Nothing {
        return Cow::Borrowed(line_ends);
    }
    Cow::Owned([line_ends, indentation].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let is_list = text.trim_start().starts_with('-');
        assert_eq!(in_one_form(text, std::iter::empty(), |_| is_list, Ends::Document), want);
    }

    #[test]
    fn white_space_has_one_form() {
        check("a \nb\t\n\n\n\nc\r\nd  e\n\n", "a\nb\n\nc\nd e\n");
        check("- a\n  - b \n \n  c", "- a\n  - b\n\n  c");
        check("  - a\n", "  - a\n");
        check("   a\n  b\n", "a\nb\n");
    }

    #[test]
    fn what_is_verbatim_stays() {
        let text = "a  b\n```\nx  \n\n\ny\n```\n\n\nc";
        let code = text.find('`').unwrap()..text.rfind('`').unwrap() + 1;
        let plain = in_one_form(text, std::iter::once(code), |_| false, Ends::Document);
        assert_eq!(plain, "a b\n```\nx  \n\n\ny\n```\n\nc");
    }

    #[test]
    fn plain_text_is_borrowed() {
        let text = "# a\n\nb c\n\n- d\n  - e\n";
        let plain = in_one_form(text, std::iter::empty(), |_| true, Ends::Document);
        assert!(matches!(plain, Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn one_form_is_that_of_itself(text in "[a \\n\\t\\r]{0,40}", is_last in any::<bool>()) {
            let ends = if is_last { Ends::Document } else { Ends::Chunk };
            let form = |text: &str| in_one_form(text, std::iter::empty(), |_| true, ends).into_owned();
            prop_assert_eq!(form(&form(&text)), form(&text));
        }
    }
}
