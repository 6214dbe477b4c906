//! The user's own headers, and who gets to see them.
//!
//! They may hold a credential, so they go to the authorities that the user named as seeds and to
//! no other: neither where a redirect leads, nor where a sitemap or a link does.

use std::collections::HashSet;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::FetchError;
use crate::model::WebUrl;

/// Headers for some authorities.
#[derive(Debug, Default)]
pub(super) struct OwnHeaders {
    fields: HeaderMap,
    homes: HashSet<String>,
}

impl OwnHeaders {
    /// Reads `lines` of the form `Name: value`.
    ///
    /// # Errors
    ///
    /// Fails with the number of the line that has another form, from 1: the line may be a secret.
    pub(super) fn read(lines: &[String]) -> Result<Self, FetchError> {
        let mut fields = HeaderMap::new();
        for (n, line) in lines.iter().enumerate() {
            let malformed = || FetchError::Header(n + 1);
            let (name, value) = line.split_once(':').ok_or_else(malformed)?;
            let name: HeaderName = name.trim().parse().map_err(|_| malformed())?;
            let mut value = HeaderValue::from_str(value.trim()).map_err(|_| malformed())?;
            value.set_sensitive(true);
            fields.append(name, value);
        }
        Ok(Self { fields, homes: HashSet::new() })
    }

    /// Has `url`'s authority see the headers; that of an `http` address also when it has moved to
    /// `https`, never the other way round.
    pub(super) fn add_home(&mut self, url: &WebUrl) {
        let authority = url.authority();
        if let Some(host) = authority.strip_prefix("http://").filter(|host| !has_port(host)) {
            self.homes.insert(format!("https://{host}"));
        }
        self.homes.insert(authority);
    }

    /// The headers of a request for `url`.
    pub(super) fn of(&self, url: &WebUrl) -> Option<&HeaderMap> {
        (!self.fields.is_empty() && self.homes.contains(&url.authority())).then_some(&self.fields)
    }
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_authority_sees_the_headers() {
        let mut own = OwnHeaders::read(&["Authorization: Bearer s3cret".to_owned()]).unwrap();
        for seed in ["https://a.example/docs/", "http://b.example/", "http://[::1]:81/"] {
            own.add_home(&WebUrl::parse(seed).unwrap());
        }
        let sees = |url: &str| own.of(&WebUrl::parse(url).unwrap()).is_some();
        for url in [
            "https://a.example/robots.txt",
            "http://b.example/x",
            "https://b.example/",
            "http://[::1]:81/x",
        ] {
            assert!(sees(url), "{url}");
        }
        for url in [
            "http://a.example/",
            "https://a.example:444/",
            "https://www.a.example/",
            "https://b.example:81/",
            "https://[::1]:81/",
            "http://[::1]/",
        ] {
            assert!(!sees(url), "{url}");
        }
        let shown = format!("{own:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
