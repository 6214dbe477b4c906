//! What CommonMark would read in literal text: block starts, tags, entities, link targets.
//!
//! Each function looks at text as it would stand in Markdown and says whether a construct begins
//! there. In doubt they say yes: a backslash too many is harmless, one too few changes the text.

use std::ops::Range;

use html5ever::data::NAMED_ENTITIES;

/// Bytes of a text that are looked at for the end of a link's target: a longer one counts as one,
/// so that looking takes bounded time.
const MAX_TARGET: usize = 2_048;

/// Where a line stands in its paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePosition {
    /// It begins the paragraph.
    First,
    /// It continues the paragraph.
    Continuation,
}

/// The bytes of `line` that need a backslash lest the line begin another block.
pub(super) fn block_start(line: &str, position: LinePosition) -> Option<Range<usize>> {
    let first = line.bytes().next()?;
    if first.is_ascii_digit() {
        return ordinal_mark(line, position).map(|at| at..at + 1);
    }
    let same = line.bytes().take_while(|byte| *byte == first).count();
    let after = line.as_bytes().get(same).copied();
    let ends_word = matches!(after, None | Some(b' '));
    let is_continuation = position == LinePosition::Continuation;
    let is_only = |allowed: &[u8]| line.bytes().all(|byte| allowed.contains(&byte));
    let is_delimiter_row = is_continuation && is_only(b"|:- ") && line.contains('-');
    let begins = match first {
        b'#' => same <= 6 && ends_word,
        b'>' => true,
        b'-' | b'+' | b'*' if same == 1 && ends_word => true,
        b'-' | b'_' | b'*' if is_only(&[first, b' ']) => {
            // Two are enough behind a bullet of the same kind.
            line.bytes().filter(|byte| *byte == first).count() >= 2 || is_continuation
        }
        b'=' => is_continuation && is_only(b"= "),
        b'`' if same >= 3 => {
            let info = line.as_bytes().get(same..).unwrap_or_default();
            return (!info.contains(&b'`')).then_some(0..same);
        }
        b'~' => return (same >= 3).then_some(0..same),
        b'|' | b':' | b'-' => is_delimiter_row,
        b'<' => is_html_block(line),
        b'[' => is_definition(line),
        _ => false,
    };
    begins.then_some(0..1)
}

/// Whether a line begins as a link or footnote definition, or as a task box.
fn is_definition(line: &str) -> bool {
    let Some((label, rest)) = line.get(1..).and_then(|after| after.split_once(']')) else {
        return false;
    };
    let is_box = matches!(label, " " | "x" | "X") && (rest.is_empty() || rest.starts_with(' '));
    !label.is_empty() && rest.starts_with(':') || is_box
}

/// The place of the `.` or `)` that makes a line begin an ordered item. Inside a paragraph only
/// an item with number 1 begins.
fn ordinal_mark(line: &str, position: LinePosition) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.as_bytes().get(digits..).unwrap_or_default();
    let is_mark = matches!(rest, [b'.' | b')'] | [b'.' | b')', b' ', ..]);
    let can_begin = position == LinePosition::First || line.get(..digits) == Some("1");
    (digits <= 9 && is_mark && can_begin).then_some(digits)
}

/// Whether a line begins a block of HTML (CommonMark 0.31 §4.6): no `>` need follow.
fn is_html_block(line: &str) -> bool {
    match line.as_bytes() {
        [b'<', b'!' | b'?', ..] => true,
        [b'<', b'/', name, ..] | [b'<', name, ..] if name.is_ascii_alphabetic() => {
            let name = line.trim_start_matches(['<', '/']);
            let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
            let after = name.as_bytes().get(end);
            matches!(after, None | Some(b' ' | b'>' | b'/' | b'\n'))
        }
        _ => false,
    }
}

/// Whether the `<` at the start of `text`, which a `>` follows somewhere, opens a tag, a comment
/// or an automatic link.
pub(super) fn is_tag(text: &str) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    match rest.as_bytes() {
        [b'!', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'-' | b'['),
        [b'?', ..] => true,
        [b'/', next, ..] => next.is_ascii_alphabetic(),
        [first, ..] if first.is_ascii_alphabetic() => follows_name(rest) || is_automatic_link(rest),
        [first, ..] => first.is_ascii_digit() && is_automatic_link(rest),
        [] => false,
    }
}

/// Whether behind the name that begins `text` a tag can go on: with an attribute, `/` or `>`.
fn follows_name(text: &str) -> bool {
    let name =
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let after = text.as_bytes().get(name..).unwrap_or_default();
    match after {
        [b'>', ..] | [b'/', b'>', ..] => true,
        [b' ' | b'\n', rest @ ..] => rest.iter().find(|byte| **byte != b' ').is_some_and(|byte| {
            byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | b'/' | b'>')
        }),
        _ => false,
    }
}

/// Whether `text` begins with a scheme or the first half of a mail address.
fn is_automatic_link(text: &str) -> bool {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(byte);
    let length = text.bytes().take(MAX_TARGET).take_while(is_part).count();
    length >= MAX_TARGET || matches!(text.as_bytes().get(length), Some(b':' | b'@'))
}

/// Whether the `&` at the start of `text` begins an entity: `&name;`, `&#1;` or `&#x1;`.
pub(super) fn is_entity(text: &str) -> bool {
    let head = text.as_bytes().get(1..).unwrap_or_default();
    let Some(end) = head.iter().take(33).position(|byte| *byte == b';') else { return false };
    let Some(name) = text.get(1..=end) else { return false };
    match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => is_number(digits, 8, u8::is_ascii_hexdigit),
            None => is_number(number, 8, u8::is_ascii_digit),
        },
        None => text.get(1..=end + 1).is_some_and(|name| NAMED_ENTITIES.contains_key(name)),
    }
}

fn is_number(digits: &str, most: usize, is_digit: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.len() <= most && digits.as_bytes().iter().all(is_digit)
}

/// Whether `text`, which stands behind a `]`, begins as the target of a link: `(address)`, with a
/// title or without.
pub(super) fn is_target(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('(') else { return false };
    let inside = inside.get(..inside.floor_char_boundary(MAX_TARGET)).unwrap_or(inside);
    let inside = match inside.split_once(')') {
        Some((inside, _)) => inside.trim(),
        None => return inside.len() >= MAX_TARGET - 4,
    };
    let has_title = inside.contains(['"', '\'', '(', '<']);
    has_title || !inside.contains(char::is_whitespace)
}
