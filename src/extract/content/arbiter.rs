//! Chooses between the candidates, by kind of page and by how far they agree.

use super::candidates;
use super::measure::{Facts, Page, Removed};
use super::page_type::{self, Guess};
use crate::extract::tree::NodeId;

/// The chosen selection, and the guess at the page's type that led to it.
pub(super) fn choose(page: &Page<'_>, stated: Option<Guess>) -> (Removed, Guess) {
    let is_open = matches!(stated, None | Some(Guess::Other | Guess::Page));
    let is_thread = is_open && page_type::is_thread(page);
    let stated = if is_thread { Some(Guess::Forum) } else { stated };
    let article = candidates::article(page, stated.unwrap_or(Guess::Article));
    let found = page.measure(&article).of(page.body);
    let all = page.measure(&vec![None; page.tree.len()]).of(page.body);
    let kind = stated.unwrap_or_else(|| page_type::by_shape(all, found));
    let (main, root) = candidates::marked(page, kind);
    let shares = Shares::new(found, page.measure(&main).of(page.body));
    let cards = candidates::card_text(page, &main);
    let is_collection =
        stated != Some(Guess::Article) && cards.saturating_mul(2) > shares.main.text;
    let chosen = if !is_collection && shares.is_article(stated, root) {
        candidates::complete(page, article, &main)
    } else {
        main
    };
    (chosen, kind)
}

/// How the article found by its paragraphs stands to the part that the page marks as main.
struct Shares {
    /// The article's part of the text outside of links.
    of_plain: f64,
    /// The share of links in what the article leaves out: high for teasers and menus, low for
    /// further sections.
    links_outside: f64,
    article: Facts,
    main: Facts,
}

impl Shares {
    fn new(article: Facts, main: Facts) -> Self {
        let of = |part: u32, whole: u32| f64::from(part) / f64::from(whole.max(1));
        Self {
            of_plain: of(article.plain(), main.plain()),
            links_outside: of(
                main.linked.saturating_sub(article.linked),
                main.text.saturating_sub(article.text),
            ),
            article,
            main,
        }
    }

    /// Whether the article is the main content, given what the page states and its marked root. Its thresholds come from pages of each type.
    fn is_article(&self, stated: Option<Guess>, root: Option<NodeId>) -> bool {
        let Facts { text, sentences, .. } = self.article;
        if text == 0 || self.main.text == 0 {
            return text > 0;
        }
        let reads = text > 250 && sentences > 2 && self.article.link_density() < 0.3;
        match stated {
            Some(Guess::Article) if root.is_some() => self.of_plain > 0.4,
            Some(Guess::Page) if root.is_some() => self.of_plain > 0.6,
            None if root.is_some() => reads && self.of_plain > 0.6,
            Some(Guess::Page) => {
                reads && (self.links_outside > 0.4 || self.of_plain > 0.5 || sentences > 7)
            }
            Some(Guess::Article) => reads,
            None => reads && (self.links_outside > 0.3 || self.of_plain > 0.5),
            Some(Guess::Product) => reads && self.of_plain > 0.25,
            Some(Guess::Listing) => {
                reads && text > 2_000 && sentences > 15 && self.links_outside > 0.3
            }
            Some(Guess::Documentation | Guess::Forum | Guess::Other) => false,
        }
    }
}
