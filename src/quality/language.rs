//! In which language is the text?

use super::prose::Prose;
use crate::model::{Metadata, Ratio};

/// Longest text that a language is recognized from, in bytes: more does not make it surer.
const SAMPLE_BYTES: usize = 1_024;

/// Sets the language to that of the text, where that can be told, and leaves the declared one
/// otherwise. Code and addresses do not speak for a language.
pub(super) fn find(prose: &Prose, metadata: &mut Metadata) {
    let Some(info) = whatlang::detect(&prose.sample(SAMPLE_BYTES)) else { return };
    let found = short_code(info.lang());
    let is_declared = metadata.lang.as_deref() == Some(found);
    if is_declared || info.is_reliable() {
        metadata.lang = Some(found.to_owned());
        metadata.lang_confidence = Some(Ratio::rounded(info.confidence()));
    }
}

/// Languages that have a two-letter code, with it.
const SHORT_CODES: &[(&str, &str)] = &[
    ("eng", "en"),
    ("rus", "ru"),
    ("cmn", "zh"),
    ("spa", "es"),
    ("por", "pt"),
    ("ita", "it"),
    ("fra", "fr"),
    ("deu", "de"),
    ("ukr", "uk"),
    ("pol", "pl"),
    ("nld", "nl"),
    ("ces", "cs"),
    ("dan", "da"),
    ("swe", "sv"),
    ("nob", "nb"),
    ("fin", "fi"),
    ("hun", "hu"),
    ("ron", "ro"),
    ("tur", "tr"),
    ("ell", "el"),
    ("heb", "he"),
    ("ara", "ar"),
    ("pes", "fa"),
    ("hin", "hi"),
    ("ben", "bn"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("vie", "vi"),
    ("tha", "th"),
    ("ind", "id"),
    ("bul", "bg"),
    ("srp", "sr"),
    ("hrv", "hr"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("lit", "lt"),
    ("lav", "lv"),
    ("est", "et"),
    ("cat", "ca"),
    ("bel", "be"),
    ("kat", "ka"),
    ("hye", "hy"),
    ("aze", "az"),
    ("uzb", "uz"),
    ("epo", "eo"),
    ("lat", "la"),
    ("afr", "af"),
    ("urd", "ur"),
    ("tam", "ta"),
    ("tel", "te"),
    ("kan", "kn"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("guj", "gu"),
    ("pan", "pa"),
    ("nep", "ne"),
    ("sin", "si"),
    ("mya", "my"),
    ("khm", "km"),
    ("amh", "am"),
    ("tgl", "tl"),
    ("jav", "jv"),
    ("mkd", "mk"),
    ("yid", "yi"),
    ("tuk", "tk"),
    ("aka", "ak"),
    ("zul", "zu"),
    ("sna", "sn"),
    ("ori", "or"),
];

/// The two-letter code of a language where it has one (ISO 639-1), else the three-letter one.
fn short_code(lang: whatlang::Lang) -> &'static str {
    let code = lang.code();
    SHORT_CODES.iter().find(|(long, _)| *long == code).map_or(code, |(_, short)| short)
}
