//! Pages that send their reader on after a while.

/// A declarative refresh: `meta http-equiv=refresh`, or the `Refresh` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh<'a> {
    /// Whole seconds that the page stays.
    pub secs: u64,
    /// The address that follows, as it is written.
    pub target: &'a str,
}

impl<'a> Refresh<'a> {
    /// Longest stay, in seconds, of a page that is nothing but a redirect: nobody reads a page in
    /// less, and pages that renew themselves take longer.
    const MAX_REDIRECT_SECS: u64 = 10;

    /// Reads `5; url=/next` (HTML, "shared declarative refresh steps"). `None` where it leads
    /// nowhere else.
    pub fn parse(content: &'a str) -> Option<Self> {
        let (time, after) = content.split_once([';', ','])?;
        let digits = time.trim().split('.').next().unwrap_or_default();
        let secs = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let after = after.trim_start();
        let (name, value) = after.split_once('=').unwrap_or(("url", after));
        let is_url = name.trim().eq_ignore_ascii_case("url");
        let value = if is_url { value } else { after };
        let target = value.trim().trim_matches(['"', '\'']);
        (!target.is_empty()).then_some(Self { secs, target })
    }

    /// Whether it acts as a redirect.
    pub fn is_redirect(&self) -> bool {
        self.secs <= Self::MAX_REDIRECT_SECS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, want: &str) {
        let got = Refresh::parse(content).map_or_else(String::new, |refresh| {
            let word = if refresh.is_redirect() { "redirect" } else { "link" };
            format!("{word} {}", refresh.target)
        });
        assert_eq!(got, want);
    }

    #[test]
    fn a_short_stay_is_a_redirect() {
        check("0; URL=/a", "redirect /a");
        check("0;url='/a'", "redirect /a");
        check(" 10.5 , /a", "redirect /a");
        check("; /a?b=c", "redirect /a?b=c");
        check("11; url=/a", "link /a");
        check("30", "");
        check("0;", "");
        check("soon; url=/a", "");
    }
}
