//! Character references: `&amp;`, `&#233;`, `&#xe9;` (HTML §13.2.5.72 to 80).

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// A decoded reference: its characters, and how many bytes of source it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    first: char,
    second: Option<char>,
    /// Bytes from the `&` on.
    pub(super) len: usize,
}

impl Reference {
    /// The one or two characters.
    pub(super) fn chars(self) -> impl Iterator<Item = char> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// Where a reference stands: in attributes `&copy=1` is the query of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// In text.
    Text,
    /// In the value of an attribute.
    Attribute,
}

/// The reference that the `&` at the start of `source` begins, if it does.
pub(super) fn reference(source: &str, within: Within) -> Option<Reference> {
    match source.as_bytes().get(1)? {
        b'#' => numeric(source),
        byte if byte.is_ascii_alphanumeric() => named(source, within),
        _ => None,
    }
}

/// `text` with its references decoded.
pub(super) fn decoded(text: &str, within: Within) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.find('&').and_then(|at| rest.split_at_checked(at)) {
        decoded.push_str(before);
        let taken = if let Some(reference) = reference(from, within) {
            decoded.extend(reference.chars());
            reference.len
        } else {
            decoded.push('&');
            1
        };
        rest = from.get(taken..).unwrap_or_default();
    }
    decoded.push_str(rest);
    decoded
}

/// The longest name that is one: `&notin;` before `&not`.
fn named(source: &str, within: Within) -> Option<Reference> {
    let bytes = source.as_bytes();
    let mut longest = None;
    // Every start of a name is in the table, with no characters where it is no name itself.
    for end in 2.. {
        let Some(&characters) = source.get(1..end).and_then(|name| NAMED_ENTITIES.get(name)) else {
            break;
        };
        if characters.0 != 0 {
            longest = Some((end, characters));
        }
        if bytes.len() == end {
            break;
        }
    }
    let (len, (first, second)) = longest?;
    let is_closed = bytes.get(len - 1) == Some(&b';');
    let goes_on = bytes.get(len).is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    if within == Within::Attribute && !is_closed && goes_on {
        return None;
    }
    let second = Some(second).filter(|second| *second != 0).and_then(char::from_u32);
    Some(Reference { first: char::from_u32(first)?, second, len })
}

fn numeric(source: &str) -> Option<Reference> {
    let (start, radix) = match source.as_bytes().get(2)? {
        b'x' | b'X' => (3, 16),
        _ => (2, 10),
    };
    let digits = source.get(start..)?;
    let count = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if count == 0 {
        return None;
    }
    let number = digits.get(..count).and_then(|digits| u32::from_str_radix(digits, radix).ok());
    let end = start + count;
    let is_closed = source.as_bytes().get(end) == Some(&b';');
    Some(Reference {
        first: character(number.unwrap_or(u32::MAX)),
        second: None,
        len: end + usize::from(is_closed),
    })
}

/// The character of a number; those of the control block are read as Windows-1252.
fn character(number: u32) -> char {
    let replaced = number
        .checked_sub(0x80)
        .and_then(|place| C1_REPLACEMENTS.get(place as usize).copied().flatten());
    let stated = char::from_u32(number).filter(|c| *c != '\0');
    replaced.or(stated).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_as_browsers_do() {
        let text = "&amp;lt; &copy &notit; &#233;&#xE9 &#128;&#0;&#x110000; &nosuch; & &# &#x;";
        let want = "&lt; © ¬it; éé €\u{fffd}\u{fffd} &nosuch; & &# &#x;";
        assert_eq!(decoded(text, Within::Text), want);
    }

    #[test]
    fn queries_of_addresses_hold_no_open_references() {
        assert_eq!(decoded("?a=1&copy=2&amp;b&lt", Within::Attribute), "?a=1&copy=2&b<");
    }
}
