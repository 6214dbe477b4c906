//! Takes teasers out of a text: cards that show another page in the midst of it, and lines that
//! lead to one (`Read also: …`).

use super::measure::{Facts, Measures, Page, Removed, remove};
use super::phrases::LEADS;
use super::sections::{is_any, is_related};
use crate::extract::tree::NodeId;

/// Longest card, in characters.
const MAX_CARD_CHARS: u32 = 500;

/// Longest line that leads to another page, in characters.
const MAX_LINE_CHARS: u32 = 250;

/// Most sentences that introduce another page.
const MAX_SENTENCES: u32 = 6;

/// Removes teasers from what is kept, unless they are a good part of it.
pub(super) fn prune(page: &Page<'_>, removed: &mut Removed) {
    let measures = page.measure(removed);
    let mut teasers: Vec<NodeId> = Vec::new();
    for node in page.kept(page.body, removed) {
        let facts = measures.of(node);
        let is_inside = teasers.last().is_some_and(|last| page.is_within(node, *last));
        if facts.text == 0 || facts.text > MAX_CARD_CHARS || is_inside {
            continue;
        }
        teasers.extend(match page.tree.tag(node) {
            "h2" | "h3" | "h4" | "h5" | "h6" if is_linked(page, node, facts) => {
                card(page, &measures, node)
            }
            "p" | "div" | "li" if is_line(page, node, facts) => Some(node),
            _ => None,
        });
    }
    let sum: u32 = teasers.iter().map(|teaser| measures.of(*teaser).text).sum();
    if sum.saturating_mul(3) < measures.of(page.body).text {
        for teaser in teasers {
            remove(removed, teaser, "content.teaser");
        }
    }
}

/// Whether all that the heading says is a link to another page.
fn is_linked(page: &Page<'_>, node: NodeId, facts: Facts) -> bool {
    let tree = page.tree;
    let link = if facts.linked == facts.text {
        tree.descendants(node).take(16).find(|inner| tree.tag(*inner) == "a")
    } else {
        tree.ancestors(node).take(3).find(|above| tree.tag(*above) == "a")
    };
    let href = link.and_then(|link| tree.attribute(link, "href"));
    href.is_some_and(|href| !href.contains('#'))
}

/// The element around a linked heading that holds no other heading, but a picture and little text.
fn card(page: &Page<'_>, measures: &Measures, heading: NodeId) -> Option<NodeId> {
    let is_card = |node: &NodeId| {
        let facts = measures.of(*node);
        facts.headings == 1
            && facts.main_headings == 0
            && facts.text <= MAX_CARD_CHARS
            && facts.sentences <= MAX_SENTENCES
            && facts.codes == 0
    };
    let around = page.tree.ancestors(heading).take_while(is_card).last()?;
    (measures.of(around).images > 0).then_some(around)
}

/// Whether a line begins with a call to read something else, and the rest is a link.
fn is_line(page: &Page<'_>, node: NodeId, facts: Facts) -> bool {
    if facts.text > MAX_LINE_CHARS || facts.link_density() <= 0.5 || facts.plain() >= 60 {
        return false;
    }
    let text = page.tree.text_content(node);
    let label = text.split_once([':', '：']).map(|(label, _)| label);
    is_related(&text) || label.is_some_and(|label| is_any(label, LEADS))
}
