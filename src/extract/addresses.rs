//! Addresses on a page: what they are read against, and how Markdown states them.

use super::ExtractOptions;
use super::index::Index;
use super::tree::Tree;
use crate::model::WebUrl;

/// How addresses on a page are read and written.
#[derive(Debug)]
pub(super) struct Addresses {
    base: Option<WebUrl>,
    keeps_links: bool,
}

impl Addresses {
    /// Reads what the page's addresses are relative to: its `base`, else its own address.
    pub(super) fn new(
        tree: &Tree,
        index: &Index,
        url: Option<&WebUrl>,
        options: &ExtractOptions,
    ) -> Self {
        let stated = index.elements(tree, "base").find_map(|node| tree.attribute(node, "href"));
        let base = match (stated, url) {
            (Some(href), Some(url)) => url.join(href).ok().or_else(|| Some(url.clone())),
            (Some(href), None) => WebUrl::parse(href.trim()).ok(),
            (None, url) => url.cloned(),
        };
        Self { base, keeps_links: options.links }
    }

    /// The date in the page's own address (`/2024/05/17/`), where there is one.
    pub(super) fn date(&self) -> Option<String> {
        let parts: Vec<&str> = self.base.as_ref()?.as_url().path().split('/').collect();
        let is_number =
            |part: &str, len: usize| part.len() == len && part.bytes().all(|b| b.is_ascii_digit());
        let mut dates = parts.windows(3).filter_map(|three| match three {
            [year, month, day]
                if is_number(year, 4) && is_number(month, 2) && is_number(day, 2) =>
            {
                Some(format!("{year}-{month}-{day}"))
            }
            _ => None,
        });
        dates.rfind(|date| date.starts_with("19") || date.starts_with("20"))
    }

    /// The page that `href` leads to, where it leads to one.
    pub(super) fn page(&self, href: &str) -> Option<WebUrl> {
        let href = trim(href);
        match &self.base {
            Some(base) => base.join(href).ok(),
            None => WebUrl::parse(href).ok(),
        }
    }

    /// The address that Markdown states for a link; `None` where only its text is to stay: links
    /// within the page, scripts, and all links where they are off.
    pub(super) fn link(&self, href: &str) -> Option<String> {
        let href = trim(href);
        if !self.keeps_links || href.is_empty() || href.starts_with('#') {
            return None;
        }
        self.write(href)
    }

    /// The absolute form of `address`, where the page's own is known. Only schemes that lead
    /// somewhere are written.
    pub(super) fn write(&self, address: &str) -> Option<String> {
        let address = trim(address);
        match (&self.base, url::Url::parse(address)) {
            (_, Ok(absolute)) => {
                let is_safe =
                    matches!(absolute.scheme(), "http" | "https" | "mailto" | "ftp" | "tel");
                is_safe.then(|| address.to_owned())
            }
            (Some(base), Err(_)) => base.as_url().join(address).ok().map(String::from),
            (None, Err(url::ParseError::RelativeUrlWithoutBase)) => Some(address.to_owned()),
            (None, Err(_)) => None,
        }
    }
}

/// `address` without the white space that the URL Standard drops.
fn trim(address: &str) -> &str {
    address.trim_matches(|c: char| c <= ' ')
}
