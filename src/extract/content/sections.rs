//! Takes out sections that their heading names as something else than the page's content:
//! teasers, comments, newsletters, and on product pages ratings.

use super::measure::{Facts, Measures, Page, Removed, is_removed, remove};
use super::page_type::PageType;
use crate::extract::tree::NodeId;

/// Longest heading that is looked at, in characters: longer ones say something of their own.
const MAX_HEADING_CHARS: u32 = 60;

/// Largest box that asks to share or subscribe, in characters.
const MAX_BOX_CHARS: u32 = 500;

/// Removes the sections, each with its heading.
pub(super) fn prune(page: &Page<'_>, kind: PageType, removed: &mut Removed) {
    let measures = page.measure(removed);
    let total = measures.of(page.body);
    for node in page.kept(page.body, removed) {
        let facts = measures.of(node);
        if facts.text == 0 || facts.text > MAX_HEADING_CHARS || !is_heading(page, node) {
            continue;
        }
        let text = page.tree.text_content(node);
        let Some(rule) = named(&text, kind) else { continue };
        let parts = section(page, &measures, node, total);
        let size: u32 = parts.iter().map(|part| measures.of(*part).text).sum();
        let is_box = matches!(rule, "content.sharing" | "content.newsletter");
        let linked: u32 = parts.iter().map(|part| measures.of(*part).linked).sum();
        // In a thread a heading like this may stand above what people wrote.
        let is_written = kind == PageType::Forum && linked * 3 < size && size > MAX_BOX_CHARS;
        if is_box && size > MAX_BOX_CHARS || is_written {
            continue;
        }
        for part in parts {
            if !is_removed(removed, part) {
                remove(removed, part, rule);
            }
        }
    }
}

/// Whether an element is a heading by its tag, or by its class alone.
fn is_heading(page: &Page<'_>, node: NodeId) -> bool {
    match page.tree.tag(node) {
        "h2" | "h3" | "h4" | "h5" | "h6" => true,
        "div" | "p" | "span" | "strong" | "b" => page.naming(node).is_title,
        _ => false,
    }
}

/// The elements that make up the section of a heading: the highest element that begins with it,
/// or the siblings up to the next heading. Empty where that would be too much of the page.
fn section(page: &Page<'_>, measures: &Measures, heading: NodeId, total: Facts) -> Vec<NodeId> {
    let tree = page.tree;
    let fits = |facts: Facts| {
        facts.text.saturating_mul(5) < total.text.saturating_mul(2) && facts.main_headings == 0
    };
    let mut top = heading;
    for above in tree.ancestors(heading) {
        let begins = first_text(page, measures, above) == first_text(page, measures, heading);
        if !begins
            || above == page.body
            || !fits(measures.of(above))
            || matches!(tree.tag(above), "main" | "article")
        {
            break;
        }
        top = above;
    }
    if measures.of(top).text > measures.of(heading).text {
        return vec![top];
    }
    let level = tree.tag(top);
    let mut parts = vec![top];
    let mut sum = measures.of(top).text;
    let mut next = tree.next(top);
    while let Some(node) = next {
        let tag = tree.tag(node);
        let is_next = matches!(tag, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
            && (tag <= level || level.len() != 2);
        let facts = measures.of(node);
        let is_prose = facts.text > 200 && facts.sentences > 1 && facts.link_density() < 0.2;
        if is_next || is_prose {
            break;
        }
        sum += measures.of(node).text;
        parts.push(node);
        next = tree.next(node);
    }
    if sum.saturating_mul(5) < total.text.saturating_mul(2) { parts } else { Vec::new() }
}

/// The first node in `root` that shows text.
fn first_text(page: &Page<'_>, measures: &Measures, root: NodeId) -> Option<NodeId> {
    let mut node = root;
    loop {
        if page.tree.text(node).is_some() {
            return Some(node);
        }
        node = page.tree.children(node).find(|child| measures.of(*child).text > 0)?;
    }
}

/// The rule for sections under a heading of this text.
fn named(text: &str, kind: PageType) -> Option<&'static str> {
    let lower: String = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| !word.is_empty())
        .collect();
    let phrase = words.join(" ").replace('’', "'");
    let is_any = |phrases: &[&str]| phrases.iter().any(|known| is_phrase(&phrase, known));
    if is_any(RELATED) {
        return Some("content.related");
    }
    if is_any(NEWSLETTER) {
        return Some("content.newsletter");
    }
    if is_any(SHARING) {
        return Some("content.sharing");
    }
    if kind != PageType::Forum && (is_any(COMMENTS) || is_counted_comments(&words)) {
        return Some("content.comments");
    }
    if kind == PageType::Product && is_any(RATINGS) {
        return Some("content.ratings");
    }
    None
}

/// Whether `phrase` is `known`, or begins with it where that ends in `*`.
fn is_phrase(phrase: &str, known: &str) -> bool {
    match known.strip_suffix('*') {
        Some(start) => {
            phrase.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
        None => phrase == known,
    }
}

/// `12 comments`, `one thought on …`.
fn is_counted_comments(words: &[&str]) -> bool {
    let is_count =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()) || matches!(word, "one" | "no");
    match words {
        [count, noun] | [count, noun, ..] if is_count(count) => {
            matches!(
                *noun,
                "comment"
                    | "comments"
                    | "response"
                    | "responses"
                    | "thoughts"
                    | "thought"
                    | "kommentare"
                    | "commentaires"
                    | "comentarios"
            )
        }
        _ => false,
    }
}

const RELATED: &[&str] = &[
    "related",
    "related articles*",
    "related posts*",
    "related stories*",
    "related content*",
    "related links*",
    "related topics*",
    "related products*",
    "related items*",
    "related news*",
    "related reading*",
    "related resources*",
    "related pages*",
    "related searches*",
    "related videos*",
    "related questions*",
    "related threads*",
    "related discussions*",
    "related coverage*",
    "related categories*",
    "related blogs*",
    "related guides*",
    "similar articles*",
    "similar posts*",
    "similar threads*",
    "similar products*",
    "similar topics*",
    "similar items*",
    "similar questions*",
    "you may also like*",
    "you might also like*",
    "you may also be interested*",
    "you might also be interested*",
    "you might be interested*",
    "you may like*",
    "you might like*",
    "also on*",
    "also in*",
    "also read*",
    "read also*",
    "read next*",
    "read more*",
    "up next*",
    "what to read next*",
    "recommended",
    "recommended for you*",
    "recommended reading*",
    "recommended articles*",
    "recommended stories*",
    "recommended posts*",
    "recommended videos*",
    "more from*",
    "more stories*",
    "more articles*",
    "more news*",
    "more posts*",
    "more like this*",
    "more on this*",
    "more to explore*",
    "more to read*",
    "more in*",
    "keep reading*",
    "continue reading*",
    "latest news*",
    "latest posts*",
    "latest articles*",
    "latest stories*",
    "latest blog*",
    "recent posts*",
    "recent articles*",
    "recent news*",
    "recent stories*",
    "recent comments*",
    "most read*",
    "most popular*",
    "popular posts*",
    "popular articles*",
    "popular stories*",
    "popular now*",
    "popular topics*",
    "trending",
    "trending now*",
    "trending topics*",
    "trending stories*",
    "trending news*",
    "trending articles*",
    "hot topics*",
    "featured articles*",
    "featured posts*",
    "featured stories*",
    "editor's picks*",
    "editors' picks*",
    "top stories*",
    "don't miss*",
    "in case you missed it*",
    "customers also*",
    "customers who*",
    "frequently bought together*",
    "people also*",
    "others also*",
    "recently viewed*",
    "compare with similar*",
    "compare similar*",
    "sponsored*",
    "from our partners*",
    "from around the web*",
    "promoted*",
    "shop more*",
    "you'll also love*",
    "you may love*",
    "complete the look*",
    "pairs well with*",
    "goes well with*",
    "best sellers*",
    "inspired by your*",
    "das könnte sie auch interessieren*",
    "das könnte dich auch interessieren*",
    "auch interessant*",
    "mehr zum thema*",
    "weitere artikel*",
    "ähnliche artikel*",
    "ähnliche beiträge*",
    "verwandte artikel*",
    "neueste beiträge*",
    "lesen sie auch*",
    "weitere beiträge*",
    "weitere themen*",
    "meistgelesen*",
    "mehr aus*",
    "à lire aussi*",
    "lire aussi*",
    "articles similaires*",
    "sur le même sujet*",
    "articles liés*",
    "les plus lus*",
    "vous aimerez aussi*",
    "artículos relacionados*",
    "noticias relacionadas*",
    "te puede interesar*",
    "le puede interesar*",
    "lo más leído*",
    "entradas recientes*",
    "você pode gostar*",
    "leia também*",
    "veja também*",
    "notícias relacionadas*",
    "artigos relacionados*",
    "mais lidas*",
    "articoli correlati*",
    "leggi anche*",
    "potrebbe interessarti*",
    "ti potrebbe interessare*",
    "lees ook*",
    "gerelateerde*",
    "czytaj także*",
    "czytaj też*",
    "zobacz także*",
    "zobacz też*",
    "polecane*",
    "читайте также*",
    "похожие*",
    "по теме*",
    "σχετικά άρθρα*",
    "διαβάστε επίσης*",
    "διαβάστε ακόμη*",
    "相关阅读*",
    "相关新闻*",
    "相关文章*",
    "推荐阅读*",
    "热门推荐*",
    "関連記事*",
    "관련기사*",
    "관련 기사*",
];

const NEWSLETTER: &[&str] = &[
    "newsletter",
    "newsletters",
    "subscribe",
    "subscribe to*",
    "subscribe now*",
    "sign up for*",
    "sign up to*",
    "join our newsletter*",
    "join our mailing*",
    "stay up to date*",
    "stay in touch*",
    "stay connected*",
    "stay informed*",
    "get the latest*",
    "get our newsletter*",
    "never miss*",
    "our newsletter*",
    "free newsletter*",
    "email newsletter*",
    "newsletter abonnieren*",
    "newsletter anmeldung*",
];

const SHARING: &[&str] = &[
    "share",
    "share this*",
    "share on*",
    "share with*",
    "share the*",
    "follow us*",
    "connect with us*",
    "like this*",
    "teilen*",
    "partager*",
    "compartir*",
    "find us on*",
];

const COMMENTS: &[&str] = &[
    "comments*",
    "comment",
    "leave a comment*",
    "leave a reply*",
    "leave your comment*",
    "post a comment*",
    "add a comment*",
    "add comment*",
    "write a comment*",
    "join the conversation*",
    "join the discussion*",
    "join the community*",
    "discussion",
    "responses",
    "user comments*",
    "reader comments*",
    "cancel reply*",
    "about the author*",
    "about author*",
    "kommentare*",
    "kommentar schreiben*",
    "schreibe einen kommentar*",
    "kommentar hinterlassen*",
    "commentaires*",
    "laisser un commentaire*",
    "comentarios*",
    "deja una respuesta*",
    "deja un comentario*",
    "comentários*",
    "deixe um comentário*",
    "commenti*",
    "lascia un commento*",
    "reacties*",
    "komentarze*",
    "dodaj komentarz*",
    "комментарии*",
    "σχόλια*",
    "über den autor*",
    "评论*",
];

const RATINGS: &[&str] = &[
    "reviews*",
    "customer reviews*",
    "customer ratings*",
    "product reviews*",
    "ratings*",
    "user reviews*",
    "verified reviews*",
    "rating snapshot*",
    "write a review*",
    "questions & answers*",
    "questions answers*",
    "customer questions*",
    "q a*",
    "customer photos*",
    "faq*",
    "faqs*",
    "kundenbewertungen*",
    "bewertungen*",
    "avis clients*",
    "opiniones*",
];
