//! Kinds of pages.

use serde::{Deserialize, Serialize};

/// What kind of page it is, as far as its data, its address and its shape tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageType {
    /// One text with a beginning and an end.
    Article,
    /// A manual or reference.
    Documentation,
    /// A discussion, a question with its answers.
    Forum,
    /// One thing for sale.
    Product,
    /// Teasers of other pages, or things for sale.
    Listing,
    /// The first page of a site.
    Home,
    /// Anything else: services, forms, profiles.
    Other,
}

impl PageType {
    /// The name that output states.
    pub fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Documentation => "documentation",
            Self::Forum => "forum",
            Self::Product => "product",
            Self::Listing => "listing",
            Self::Home => "home",
            Self::Other => "other",
        }
    }
}
