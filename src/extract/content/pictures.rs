//! Takes out pictures that decorate: icons, logos, portraits beside names, and one picture shown
//! again and again. Of the others it finds those whose alternative text only repeats what a
//! reader sees beside them.

use std::collections::{HashMap, HashSet};

use super::measure::{Measures, Page, Removed, remove};
use super::names::Hint;
use crate::extract::media::image_address;
use crate::extract::tree::NodeId;

/// Largest side of an icon, in CSS pixels.
const MAX_ICON_PIXELS: u32 = 64;

/// Longest text beside a picture that can be its caption, in characters.
const MAX_CAPTION_CHARS: u32 = 600;

/// Elements above a picture among which the one with its caption is looked for.
const MAX_CAPTION_LEVELS: usize = 6;

/// Nodes of an element that are read for a caption, so that reading takes linear time.
const MAX_CAPTION_NODES: usize = 256;

/// Removes the pictures that decorate from what is kept.
pub(super) fn prune(page: &Page<'_>, removed: &mut Removed) {
    let kept = page.kept(page.body, removed);
    // What a heading or link says already.
    let mut seen: HashSet<String> = kept
        .iter()
        .filter(|node| {
            matches!(page.tree.tag(**node), "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "a")
        })
        .map(|node| plain(&page.tree.text_content(*node)))
        .collect();
    for node in kept {
        if page.tree.tag(node) != "img" {
            continue;
        }
        let alt = plain(page.tree.attribute(node, "alt").unwrap_or_default());
        let is_repeated = !alt.is_empty() && !seen.insert(alt.clone());
        if is_repeated || is_icon(page, node) || is_mark(&alt) {
            remove(removed, node, "content.picture");
        }
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn is_icon(page: &Page<'_>, node: NodeId) -> bool {
    let is_small = |name: &str| {
        let side = page
            .tree
            .attribute(node, name)
            .and_then(|side| side.trim_end_matches("px").parse::<u32>().ok());
        side.is_some_and(|side| side <= MAX_ICON_PIXELS)
    };
    is_small("width") || is_small("height") || page.naming(node).has(Hint::Icon)
}

/// Whether alternative text says that the picture stands for a name.
fn is_mark(alt: &str) -> bool {
    let mut words = alt.split(|c: char| !c.is_alphanumeric());
    alt.len() <= 60 && words.any(|word| matches!(word, "logo" | "icon" | "avatar"))
}

/// The pictures that stay and whose alternative text says nothing of its own: it is the file's
/// name, it repeats the caption, or the picture leads to where a text beside it leads too.
pub(super) fn captioned(page: &Page<'_>, removed: &Removed) -> HashSet<NodeId> {
    let measures = page.measure(removed);
    let kept = page.kept(page.body, removed);
    let mut captions = Captions { page, measures: &measures, words: HashMap::new() };
    let told: HashSet<&str> = kept
        .iter()
        .filter(|node| page.tree.tag(**node) == "a" && measures.of(**node).text > 0)
        .filter_map(|node| page.tree.attribute(*node, "href"))
        .collect();
    kept.iter()
        .copied()
        .filter(|node| page.tree.tag(*node) == "img")
        .filter(|node| {
            let alt = words(page.tree.attribute(*node, "alt").unwrap_or_default());
            !alt.is_empty()
                && (is_teaser(page, *node, &told)
                    || is_file_name(page, *node, &alt)
                    || captions.tell(*node, &alt))
        })
        .collect()
}

/// Whether the picture is a link to where one of `told`, the links with text, leads too.
fn is_teaser(page: &Page<'_>, node: NodeId, told: &HashSet<&str>) -> bool {
    let link = page.tree.ancestors(node).find(|above| page.tree.tag(*above) == "a");
    link.and_then(|link| page.tree.attribute(link, "href")).is_some_and(|href| told.contains(href))
}

/// Whether the alternative text is the name of the picture's file.
fn is_file_name(page: &Page<'_>, node: NodeId, alt: &[String]) -> bool {
    let text = page.tree.attribute(node, "alt").unwrap_or_default().trim();
    let has_ending = text.rsplit_once('.').is_some_and(|(_, ending)| {
        matches!(
            ending.to_ascii_lowercase().as_str(),
            "jpg" | "jpeg" | "png" | "gif" | "webp" | "avif" | "svg"
        )
    });
    if has_ending || !text.contains(char::is_whitespace) && text.contains(['_', '-']) {
        return true;
    }
    let address = image_address(page.tree, node).unwrap_or_default();
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    words(file).starts_with(alt)
}

/// The words beside pictures, by the element that holds both.
struct Captions<'p, 'a> {
    page: &'p Page<'a>,
    measures: &'p Measures,
    words: HashMap<NodeId, HashSet<String>>,
}

impl Captions<'_, '_> {
    /// Whether a caption stands beside the picture, or a text that has most words of `alt`.
    fn tell(&mut self, node: NodeId, alt: &[String]) -> bool {
        let (page, tree) = (self.page, self.page.tree);
        let beside = tree
            .ancestors(node)
            .take(MAX_CAPTION_LEVELS)
            .find(|above| self.measures.of(*above).text > 0)
            .filter(|above| self.measures.of(*above).text <= MAX_CAPTION_CHARS);
        let Some(beside) = beside else { return false };
        if tree.tag(beside) == "figure" {
            return true;
        }
        let known = self.words.entry(beside).or_insert_with(|| {
            let mut text = String::new();
            for inner in tree.descendants(beside).take(MAX_CAPTION_NODES) {
                if let Some(part) = tree.text(inner).filter(|_| page.is_within(inner, beside)) {
                    text.push_str(part);
                    text.push(' ');
                }
            }
            words(&text).into_iter().collect()
        });
        let found = alt.iter().filter(|word| known.contains(*word)).count();
        found * 5 >= alt.len() * 3
    }
}

/// The words of `text`, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::extract::content::tests::{article, document, fate};

    #[test]
    fn decorating_pictures_go() {
        let html = article(
            "<img src=/a.png alt='A bush'><img src=/b.png alt='A bush'><img src=/l.png alt='Shop logo'>",
        );
        let page = document(&html, "https://docs.example.org/tea");
        assert!(
            !page.markdown.as_str().contains("/b.png")
                && !page.markdown.as_str().contains("/l.png")
        );
    }

    #[test]
    fn alternative_text_that_repeats_goes_and_its_picture_stays() {
        let html = article(
            "<figure><img src=/a.png alt='Leaves on cloth'><figcaption>Withering.</figcaption></figure>\
             <div><img src=/green-tea_2.png alt='green-tea_2'></div>\
             <div><a href=/b><img src=/b.png alt='A porcelain cup'></a><a href=/b>On cups.</a></div>\
             <div><img src=/c.png alt='Pickers walking home'></div>",
        );
        let page = document(&html, "https://docs.example.org/tea");
        for (picture, alternative, fate_of_it) in [
            ("/a.png", "Leaves on cloth", "content.repeated_alternative"),
            ("/b.png", "A porcelain cup", "content.repeated_alternative"),
            ("/c.png", "Pickers walking home", "kept"),
        ] {
            assert!(page.markdown.as_str().contains(picture), "{}", page.markdown);
            assert_eq!(fate(&page, alternative), fate_of_it, "{}", page.markdown);
        }
        assert!(page.markdown.as_str().contains("![](https://docs.example.org/green-tea_2.png)"));
    }
}
