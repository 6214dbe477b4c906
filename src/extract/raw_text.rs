//! Where the text of an element that holds no markup ends (HTML §13.2.5.2 to 31).

use memchr::{memchr, memchr2};

use super::tokens::is_space;

/// Where the text from `start` on ends: at the end tag of the element `name`, or with the source.
pub(super) fn raw_end(source: &[u8], start: usize, name: &[u8]) -> usize {
    let mut at = start;
    while let Some(found) = memchr(b'<', from(source, at)) {
        at += found;
        if is_tag(from(source, at), b"</", name) {
            return at;
        }
        at += 1;
    }
    source.len()
}

/// The same for a script, which does not end inside `<!-- <script> </script> -->`.
pub(super) fn script_end(source: &[u8], start: usize, name: &[u8]) -> usize {
    let (mut is_comment, mut is_inner) = (false, false);
    let mut at = start;
    while let Some(found) = memchr2(b'<', b'>', from(source, at)) {
        at += found;
        let is_end = is_tag(from(source, at), b"</", name);
        if is_end && !is_inner {
            return at;
        }
        if source.get(start..=at).is_some_and(|before| before.ends_with(b"-->")) {
            (is_comment, is_inner) = (false, false);
        } else if is_comment {
            is_inner = !is_end && (is_inner || is_tag(from(source, at), b"<", name));
        } else if from(source, at).starts_with(b"<!--") {
            is_comment = true;
        }
        at += 1;
    }
    source.len()
}

fn from(source: &[u8], at: usize) -> &[u8] {
    source.get(at..).unwrap_or_default()
}

/// Whether `source` begins with `mark` and the whole of `name`.
fn is_tag(source: &[u8], mark: &[u8], name: &[u8]) -> bool {
    let Some((found, after)) =
        source.strip_prefix(mark).and_then(|rest| rest.split_at_checked(name.len()))
    else {
        return false;
    };
    found.eq_ignore_ascii_case(name)
        && after.first().is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'))
}
