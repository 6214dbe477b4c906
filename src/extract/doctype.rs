//! The document type, which decides how lenient the tree builder is (HTML §13.2.5.53 to 68).

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::Doctype;

use super::tokens::is_space;

/// Reads the document type whose declaration goes on with `source`, behind its first word, and
/// says how many bytes it takes.
pub(super) fn doctype(source: &str) -> (Doctype, usize) {
    let mut doctype = Doctype::default();
    let mut rest = source;
    if read(&mut rest, &mut doctype).is_none() {
        // What is malformed or unfinished asks for leniency.
        doctype.force_quirks = true;
    }
    let end = rest.find('>').map_or(rest.len(), |at| at + 1);
    (doctype, source.len() - rest.len() + end)
}

/// Reads what stands before the `>`; `None` where that is malformed.
fn read(rest: &mut &str, doctype: &mut Doctype) -> Option<()> {
    skip_space(rest);
    let end = rest.bytes().position(|byte| is_space(byte) || byte == b'>').unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    *rest = after;
    doctype.name = (!name.is_empty()).then(|| name.to_ascii_lowercase().into());
    doctype.name.as_ref()?;
    skip_space(rest);
    if rest.starts_with('>') {
        return Some(());
    }
    let (keyword, after) = rest.split_at_checked(6)?;
    let is_public = keyword.eq_ignore_ascii_case("public");
    if !is_public && !keyword.eq_ignore_ascii_case("system") {
        return None;
    }
    *rest = after;
    if is_public {
        doctype.public_id = Some(identifier(rest)?);
        skip_space(rest);
        if rest.starts_with('>') {
            return Some(());
        }
    }
    doctype.system_id = Some(identifier(rest)?);
    skip_space(rest);
    (!rest.is_empty()).then_some(())
}

/// The quoted identifier that comes next.
fn identifier(rest: &mut &str) -> Option<StrTendril> {
    skip_space(rest);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (id, after) = rest.get(1..)?.split_once(quote)?;
    if id.contains('>') {
        return None;
    }
    *rest = after;
    Some(id.into())
}

fn skip_space(rest: &mut &str) {
    *rest = rest.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
}
