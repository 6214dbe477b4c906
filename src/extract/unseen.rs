//! Characters that no reader sees: they break words for a search, and carry messages that only a
//! machine reads.
//!
//! In: a text. Out: what is shown of it, and what is not, under the name of a rule for each kind.
//! What changes how its neighbours are drawn stays: a joiner within a script that has it, or within
//! an emoji, the selector of a variant that its base has, the tags of a flag.

use crate::model::Ledger;

/// The flags that are written with tags (Unicode's RGI set): England, Scotland, Wales.
const TAG_FLAGS: &[&str] = &["gbeng", "gbsct", "gbwls"];

/// What begins a flag that is written with tags.
const BLACK_FLAG: char = '\u{1f3f4}';

/// What ends it.
const CANCEL_TAG: char = '\u{e007f}';

/// `text` without the characters that no reader sees; `None` where there are none.
pub(super) fn shown(text: &str, ledger: &mut Ledger) -> Option<String> {
    if text.is_ascii() && !text.contains(is_control) || !text.contains(|c| rule(c).is_some()) {
        return None;
    }
    let mut shown = String::with_capacity(text.len());
    let mut removed: Vec<(&'static str, String)> = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match rule(c).filter(|_| !is_drawn(&shown, c, rest.as_str())) {
            None => shown.push(c),
            Some(rule) => match removed.iter_mut().find(|(name, _)| *name == rule) {
                Some((_, all)) => all.push(c),
                None => removed.push((rule, c.to_string())),
            },
        }
    }
    for (rule, all) in removed {
        ledger.remove(rule, &all);
    }
    Some(shown)
}

/// The rule that `c` falls under where nothing around it needs it.
fn rule(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{e0000}'..='\u{e007f}' => "extract.tag_character",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "extract.variation_selector",
        '\u{200c}' | '\u{200d}' => "extract.joiner",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "extract.bidi_control",
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' => "extract.invisible_character",
        _ if is_control(c) => "extract.control_character",
        _ => return None,
    })
}

fn is_control(c: char) -> bool {
    c.is_control() && !c.is_whitespace()
}

/// Whether `c`, between what is shown before it and the rest, changes what is drawn.
fn is_drawn(before: &str, c: char, rest: &str) -> bool {
    let base = before.chars().next_back();
    match c {
        '\u{200c}' | '\u{200d}' => base.is_some_and(|base| joins(base, c, rest.chars().next())),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            base.is_some_and(|base| has_variant(base, c))
        }
        '\u{e0020}'..='\u{e007f}' => is_flag(before, c, rest),
        _ => false,
    }
}

/// Whether the joiner `c` joins, or holds apart, `before` and `after`.
fn joins(before: char, c: char, after: Option<char>) -> bool {
    if is_of_joining_script(before) {
        return true;
    }
    // The skin, the variant or the flag before it belongs to an emoji.
    let is_emoji_end = is_pictograph(before) || matches!(before, '\u{fe0f}' | CANCEL_TAG);
    c == '\u{200d}' && is_emoji_end && after.is_some_and(is_pictograph)
}

/// Whether `c` is of a script that writes with joiners: from Arabic to Myanmar, Khmer, Mongolian
/// and the scripts of South-East Asia, and the forms of Arabic.
fn is_of_joining_script(c: char) -> bool {
    let is_of_script = matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    is_of_script && rule(c).is_none()
}

/// Whether `c` may be drawn as a picture, as far as its block says.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether `base` has a variant that `selector` stands for, as far as their blocks say.
fn has_variant(base: char, selector: char) -> bool {
    let is_ideograph = matches!(base, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}');
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(base) || matches!(base, '#' | '*' | '0'..='9'),
        '\u{fe00}'..='\u{fe02}' => {
            is_ideograph
                || matches!(base, '0' | '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}'
                    | '\u{2a00}'..='\u{2aff}' | '\u{3000}'..='\u{303f}'
                    | '\u{a840}'..='\u{a87f}' | '\u{ff00}'..='\u{ff60}')
        }
        '\u{e0100}'..='\u{e01ef}' => is_ideograph,
        _ => false,
    }
}

/// Whether the tag `c` stands within one of [`TAG_FLAGS`], whole.
fn is_flag(before: &str, c: char, rest: &str) -> bool {
    let is_tag = |c: &char| matches!(c, '\u{e0020}'..='\u{e007e}');
    let longest = TAG_FLAGS.iter().map(|flag| flag.len()).max().unwrap_or(0);
    let mut back = before.chars().rev();
    let mut tags: Vec<char> = back.by_ref().take(longest + 1).take_while(is_tag).collect();
    if before.chars().rev().nth(tags.len()) != Some(BLACK_FLAG) {
        return false;
    }
    tags.reverse();
    if c != CANCEL_TAG {
        let mut after = rest.chars();
        tags.push(c);
        tags.extend(after.by_ref().take(longest).take_while(is_tag));
        // Not beyond the longest flag: a page may go on with tags for megabytes.
        let ends = rest.chars().take(longest + 1).find(|c| !is_tag(c));
        if ends != Some(CANCEL_TAG) {
            return false;
        }
    }
    let letters: String =
        tags.iter().filter_map(|c| char::from_u32(u32::from(*c) - 0xe0000)).collect();
    TAG_FLAGS.contains(&letters.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is shown, and the rules that removed something.
    fn show(text: &str) -> (String, Vec<String>) {
        let mut ledger = Ledger::default();
        let shown = shown(text, &mut ledger).unwrap_or_else(|| text.to_owned());
        (shown, ledger.removals().into_iter().map(|removal| removal.rule).collect())
    }

    #[track_caller]
    fn check(text: &str, want: &str, rules: &[&str]) {
        let (shown, removed) = show(text);
        assert_eq!(shown, want);
        assert_eq!(removed, rules);
    }

    #[test]
    fn what_changes_the_drawing_stays() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👨\u{200d}👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈",
            "👩🏽\u{200d}🚀",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3} ☎\u{fe0e}",
            "葛\u{e0100}城 ∩\u{fe00}",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "שלום \u{200f}abc",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn smuggled_characters_go_by_name() {
        check("a\u{e0068}\u{e0069}b", "ab", &["extract.tag_character"]);
        check("🏴\u{e0068}\u{e0069}\u{e007f}b", "🏴b", &["extract.tag_character"]);
        check("a\u{fe01}b\u{e0123}", "ab", &["extract.variation_selector"]);
        check("❤\u{fe0f}\u{fe0f}\u{e0140}", "❤\u{fe0f}", &["extract.variation_selector"]);
        check("pass\u{200d}word\u{200c}", "password", &["extract.joiner"]);
        check("م\u{200c}\u{200d}\u{200c}ن", "م\u{200c}ن", &["extract.joiner"]);
        check("\u{202e}cba\u{2069}", "cba", &["extract.bidi_control"]);
        check("zero\u{200b}width\u{3164}", "zerowidth", &["extract.invisible_character"]);
        check("bell\u{7}\u{9b}", "bell", &["extract.control_character"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_shown_again(
            text in "[a0م葛❤🏴👩\u{200b}-\u{200d}\u{fe00}-\u{fe0f}\u{e0062}-\u{e0068}\u{e007f}\u{202e}]{0,24}"
        ) {
            let (once, _) = show(&text);
            let (twice, removed) = show(&once);
            prop_assert_eq!(&once, &twice);
            prop_assert!(removed.is_empty());
        }
    }
}
