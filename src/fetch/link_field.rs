//! `Link` fields of a response (RFC 8288): what a page says of its neighbours without HTML.
//!
//! In: the values of the fields. Out: [`LinkField`]s. Quoted strings may hold commas and
//! semicolons; what cannot be read is skipped.

/// A link that a response states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkField {
    /// The address, as it is written.
    pub(super) target: String,
    relations: Vec<String>,
    names_language: bool,
}

impl LinkField {
    /// Whether the link names the page's own address.
    pub(super) fn is_canonical(&self) -> bool {
        self.has_relation("canonical")
    }

    /// Whether the link leads to another page of the same kind.
    pub(super) fn leads_on(&self) -> bool {
        self.has_relation("next")
            || self.has_relation("prev")
            || self.names_language && self.has_relation("alternate")
    }

    fn has_relation(&self, name: &str) -> bool {
        self.relations.iter().any(|relation| relation == name)
    }
}

/// Reads the value of a field.
pub(super) fn parse(value: &str) -> Vec<LinkField> {
    split(value, ',').iter().filter_map(|entry| link(entry)).collect()
}

fn link(entry: &str) -> Option<LinkField> {
    let (target, parameters) = entry.trim().strip_prefix('<')?.split_once('>')?;
    let mut link = LinkField {
        target: target.trim().to_owned(),
        relations: Vec::new(),
        names_language: false,
    };
    for parameter in split(parameters, ';') {
        let (name, value) = parameter.split_once('=').unwrap_or((&parameter, ""));
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        match name.trim().to_ascii_lowercase().as_str() {
            // Of several, the first counts (RFC 8288 §3.3).
            "rel" if link.relations.is_empty() => {
                link.relations = value.split_ascii_whitespace().map(str::to_owned).collect();
            }
            "hreflang" => link.names_language = true,
            _ => {}
        }
    }
    Some(link)
}

/// Splits at `separator` outside of quoted strings and angle brackets.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut is_quoted, mut is_target) = (false, false);
    for c in text.chars() {
        match c {
            '"' if !is_target => is_quoted = !is_quoted,
            '<' if !is_quoted => is_target = true,
            '>' if !is_quoted => is_target = false,
            _ if c == separator && !is_quoted && !is_target => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(value: &str, want: &[&str]) {
        let show = |link: &LinkField| {
            let word = match (link.is_canonical(), link.leads_on()) {
                (true, _) => "canonical",
                (_, true) => "on",
                _ => "other",
            };
            format!("{word} {}", link.target)
        };
        assert_eq!(parse(value).iter().map(show).collect::<Vec<_>>(), want);
    }

    #[test]
    fn relations_are_read_with_their_targets() {
        check("</a>; rel=canonical", &["canonical /a"]);
        check("</a,b>; title=\"x, <y>; rel=next\"; rel=\"start Canonical\"", &["canonical /a,b"]);
        check("</a>; rel=prev, </b>;rel=\"next\"", &["on /a", "on /b"]);
        check("</de>; rel=alternate; hreflang=de, </x>; rel=alternate", &["on /de", "other /x"]);
        check("</a>; rel=preload; rel=canonical, nonsense, <", &["other /a"]);
    }

    proptest! {
        #[test]
        fn any_value_gives_a_result(value in "[<>\";,= a-c]{0,40}") {
            prop_assert!(parse(&value).len() <= value.len() + 1);
        }
    }
}
