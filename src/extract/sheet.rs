//! What the page's own style sheets hide, by selectors that name an element alone.
//!
//! In: the tree. Out: the same; an element that a rule such as `.x { display: none }` hides has
//! those declarations in its `style`, before its own, so that all that is said of inline styles
//! holds for it.
//!
//! Read are selectors of a class or an id, also of several (`p.a.b#c`). A rule for some media
//! never hides, but it may show what another hides: that is how pages fit themselves to a window.
//! Sheets in files of their own are not fetched, and selectors that need the tree around an
//! element are not looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::hidden::{declarations, is_sight_property, shows};
use super::index::Index;
use super::tree::{Element, NodeId, Step, Tree};

/// An element with more than one in so many bytes of a page's text is not hidden by a sheet.
const MOST_HIDDEN: usize = 4;

/// Most rules for one class or id that are looked at: every element that has it is held against
/// all of them.
const MAX_RULES_OF_NAME: usize = 64;

/// Most rules of a page's sheets that are looked at.
const MAX_RULES: usize = 20_000;

/// Most classes of a selector: a longer one is not looked at.
const MAX_CLASSES: usize = 8;

/// How often, at most, a rule is held against an element of a page. Large pages do so some ten
/// thousand times.
const MAX_LOOKS: usize = 500_000;

/// Declarations that decide about sight, by property.
type Declarations = BTreeMap<String, String>;

/// A selector of one element by its own names, and what it declares.
#[derive(Debug)]
struct Rule {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    declarations: Declarations,
    reach: Reach,
}

/// When a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Always.
    All,
    /// For some media.
    Some,
}

/// The rules of a page's sheets, in order.
#[derive(Debug, Default)]
struct Sheet {
    rules: Vec<Rule>,
    /// Numbers of rules, by the class or `#id` that an element must have for each.
    by_name: HashMap<String, Vec<usize>>,
}

/// Writes what the sheets of the page hide to the elements that they hide.
pub(super) fn apply(tree: &mut Tree, index: &Index) {
    let mut sheet = Sheet::default();
    for node in &index.sheets {
        sheet.read(&tree.text_content(*node));
    }
    if !sheet.hides() {
        return;
    }
    let mut looks = MAX_LOOKS;
    let mut hidden = Vec::new();
    for node in tree.descendants(NodeId::DOCUMENT) {
        let element = tree.element(node).filter(|element| is_styled(element));
        if let Some(style) = element.and_then(|element| sheet.style(element, &mut looks)) {
            hidden.push((node, style));
        }
    }
    // What holds much of the text is shown by a script, or by a sheet that is not here.
    let (texts, all) = text_bytes(tree, hidden.iter().map(|(node, _)| *node));
    for (node, style) in hidden {
        if texts.get(&node).is_none_or(|bytes| *bytes <= all / MOST_HIDDEN) {
            tree.set_style(node, &style);
        }
    }
}

/// Bytes of the text within each of `nodes`, and of all of the page's.
fn text_bytes(tree: &Tree, nodes: impl Iterator<Item = NodeId>) -> (HashMap<NodeId, usize>, usize) {
    let mut texts: HashMap<NodeId, usize> = nodes.map(|node| (node, 0)).collect();
    let mut all = 0;
    let mut step = Some(Step::Enter(NodeId::DOCUMENT));
    while let Some(now) = step {
        step = tree.after(now, NodeId::DOCUMENT);
        match now {
            Step::Enter(node) if is_no_text(tree.tag(node)) => {
                step = tree.after(Step::Leave(node), NodeId::DOCUMENT);
            }
            Step::Enter(node) => {
                all += tree.text(node).map_or(0, |text| text.trim().len());
                texts.entry(node).and_modify(|bytes| *bytes = all);
            }
            Step::Leave(node) => {
                texts.entry(node).and_modify(|bytes| *bytes = all - *bytes);
            }
        }
    }
    (texts, all)
}

/// Whether what an element holds is not for a reader.
fn is_no_text(tag: &str) -> bool {
    matches!(tag, "script" | "style" | "template" | "noscript" | "title" | "select")
}

/// Whether rules are looked up for an element: pages hide their root until a script has run.
fn is_styled(element: &Element) -> bool {
    element.is_html() && !matches!(element.tag(), "html" | "body")
}

impl Sheet {
    /// Whether any rule hides something.
    fn hides(&self) -> bool {
        self.rules.iter().any(|rule| rule.reach == Reach::All && !shows(&rule.declarations))
    }

    /// The style that `element` gets, where the sheet hides it. `looks` is how often a rule may
    /// still be held against an element.
    fn style(&self, element: &Element, looks: &mut usize) -> Option<String> {
        let classes = element.attribute("class").unwrap_or_default();
        let classes: HashSet<&str> = classes.split_ascii_whitespace().collect();
        let id = element.attribute("id").map(|id| format!("#{id}"));
        let names = classes.iter().copied().chain(id.as_deref());
        let mut numbers: Vec<usize> =
            names.filter_map(|name| self.by_name.get(name)).flatten().copied().collect();
        if numbers.is_empty() {
            return None;
        }
        *looks = looks.checked_sub(numbers.len())?;
        numbers.sort_unstable();
        let rules = numbers.iter().filter_map(|n| self.rules.get(*n));
        let mut matching: Vec<&Rule> =
            rules.filter(|rule| rule.matches(element, &classes)).collect();
        // One rule must hide by itself: a height of one and an overflow of another are layout.
        if matching.iter().all(|rule| shows(&rule.declarations)) {
            return None;
        }
        // Of equally specific rules the later one holds: the sort keeps their order.
        matching.sort_by_key(|rule| (rule.reach, rule.specificity()));
        let mut merged = Declarations::new();
        for rule in matching {
            for (name, value) in &rule.declarations {
                let only_this = Declarations::from([(name.clone(), value.clone())]);
                if rule.reach == Reach::All {
                    merged.insert(name.clone(), value.clone());
                } else if shows(&only_this) {
                    merged.remove(name);
                }
            }
        }
        let own = element.attribute("style").unwrap_or_default();
        for (name, _) in declarations(own) {
            merged.remove(&name);
        }
        if shows(&merged) {
            return None;
        }
        let mut style = merged
            .iter()
            .fold(String::new(), |style, (name, value)| style + name + ":" + value + ";");
        style.push_str(own);
        Some(style)
    }

    /// Reads the rules of a sheet.
    fn read(&mut self, text: &str) {
        let text = without_comments(text);
        let mut rest = text.as_str();
        // Blocks of rules for some media.
        let mut open = 0_usize;
        while let Some(at) = rest.find(['{', '}', ';']) {
            let (prelude, found) = rest.split_at(at);
            rest = found.get(1..).unwrap_or_default();
            let prelude = prelude.trim();
            match found.as_bytes().first() {
                Some(b'{') if prelude.starts_with('@') => {
                    if holds_rules(prelude) {
                        open += 1;
                    } else {
                        rest = after_block(rest);
                    }
                }
                Some(b'{') => {
                    let end = rest.find(['{', '}']).unwrap_or(rest.len());
                    let (body, after) = rest.split_at(end);
                    if after.starts_with('{') {
                        // Rules within a rule: what they say depends on the tree.
                        rest = after_block(rest);
                    } else {
                        let reach = if open > 0 { Reach::Some } else { Reach::All };
                        self.add(prelude, body, reach);
                        rest = after.get(1..).unwrap_or_default();
                    }
                }
                Some(b'}') => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn add(&mut self, selectors: &str, body: &str, reach: Reach) {
        let declarations: Declarations =
            declarations(body).filter(|(name, _)| is_sight_property(name)).collect();
        if declarations.is_empty() {
            return;
        }
        for selector in selectors.split(',') {
            if self.rules.len() >= MAX_RULES {
                return;
            }
            let Some(rule) = Rule::read(selector.trim(), &declarations, reach) else {
                continue;
            };
            let name = rule.name();
            let numbers = self.by_name.entry(name).or_default();
            if numbers.len() < MAX_RULES_OF_NAME {
                numbers.push(self.rules.len());
                self.rules.push(rule);
            }
        }
    }
}

impl Rule {
    /// Reads a selector; `None` where it is none of a class or an id alone.
    fn read(selector: &str, declarations: &Declarations, reach: Reach) -> Option<Self> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '#');
        if !selector.contains(['.', '#']) || !selector.chars().all(is_plain) {
            return None;
        }
        let mut rule = Self {
            tag: None,
            id: None,
            classes: Vec::new(),
            declarations: declarations.clone(),
            reach,
        };
        let start = selector.find(['.', '#'])?;
        let (tag, mut rest) = selector.split_at(start);
        rule.tag = (!tag.is_empty()).then(|| tag.to_ascii_lowercase());
        while let Some(name) = rest.get(1..) {
            let end = name.find(['.', '#']).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            if rest.starts_with('#') {
                rule.id = Some(name.to_owned());
            } else {
                rule.classes.push(name.to_owned());
            }
            rest = after;
        }
        let is_named = rule.id.iter().chain(&rule.classes).all(|name| !name.is_empty());
        (is_named && rule.classes.len() <= MAX_CLASSES).then_some(rule)
    }

    /// The class or `#id` that it is looked up by.
    fn name(&self) -> String {
        match (&self.id, self.classes.first()) {
            (Some(id), _) => format!("#{id}"),
            (None, Some(class)) => class.clone(),
            (None, None) => String::new(),
        }
    }

    fn matches(&self, element: &Element, classes: &HashSet<&str>) -> bool {
        self.tag.as_ref().is_none_or(|tag| element.tag() == tag)
            && self.id.as_ref().is_none_or(|id| element.attribute("id") == Some(id))
            && self.classes.iter().all(|name| classes.contains(name.as_str()))
    }

    /// Ids, then classes, then tags.
    fn specificity(&self) -> (bool, usize, bool) {
        (self.id.is_some(), self.classes.len(), self.tag.is_some())
    }
}

/// `text` without comments, and without the marks that hid sheets from the browsers of old.
fn without_comments(text: &str) -> String {
    let text = text.replace("<!--", " ").replace("-->", " ");
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Whether the block of an at-rule holds rules that may be in force for a visitor.
fn holds_rules(prelude: &str) -> bool {
    let is_media = prelude.starts_with("@media") && !prelude.contains("print");
    is_media || ["@supports", "@layer", "@container"].iter().any(|at| prelude.starts_with(at))
}

/// What follows the block whose inside `text` begins with.
fn after_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, brace) in text.match_indices(['{', '}']) {
        depth = if brace == "{" { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::hidden::hidden_by;
    use crate::extract::parse::{ParseLimits, parse};

    /// Whether the page's first paragraph is hidden.
    fn is_hidden(sheet: &str, attributes: &str) -> bool {
        let html = format!("<style>{sheet}</style><p {attributes}>x</p>Text that stays.");
        let (mut tree, _) = parse(&html, ParseLimits { max_depth: 99, max_nodes: 999 });
        let index = Index::of(&tree);
        apply(&mut tree, &index);
        let paragraph = tree.descendants(NodeId::DOCUMENT).find(|node| tree.tag(*node) == "p");
        hidden_by(&tree, paragraph.unwrap()).is_some()
    }

    #[test]
    fn a_rule_for_an_element_by_its_names_hides_it() {
        for (sheet, attributes) in [
            (".a{display:none}", "class='b a'"),
            ("/* .a{} */ b, P.a.b , i{ color: red; Display : none !important }", "class='b a'"),
            ("#i{visibility:hidden}", "id=i"),
            (".a{position:absolute;left:-9999px}", "class=a"),
            (".a{color:#fff;background:#fff}", "class=a style='margin:0'"),
            (".a{display:block}#i.a{display:none}", "id=i class=a"),
            ("@charset 'x';@font-face{font:x}.a{display:none}", "class=a"),
            ("@media screen{.b{display:none}}.a{display:none}", "class=a"),
        ] {
            assert!(is_hidden(sheet, attributes), "{sheet} {attributes}");
        }
    }

    #[test]
    fn what_a_visitor_may_see_is_not_hidden() {
        for (sheet, attributes) in [
            (".a{display:none}", "class=aa"),
            (".a b{display:none}", "class=a"),
            (".a:hover{display:none}", "class=a"),
            ("p{display:none}", ""),
            ("b.a{display:none}", "class=a"),
            (".a{display:none}.a{display:block}", "class=a"),
            (".a{display:none}.a.b{display:flex}", "class='a b'"),
            (".a{display:none}", "class=a style='display:block'"),
            ("@media print{.a{display:none}}", "class=a"),
            ("@media (max-width:9em){.a{display:none}}", "class=a"),
            (".a{display:none}@media (min-width:9em){.a{display:block}}", "class=a"),
            (".a{.b{display:none}}", "class='a b'"),
            ("@keyframes x{.a{display:none}}", "class=a"),
            (".a{height:0}.b{overflow:hidden}", "class='a b'"),
        ] {
            assert!(!is_hidden(sheet, attributes), "{sheet} {attributes}");
        }
    }

    #[test]
    fn a_sheet_does_not_hide_the_page() {
        let html = "<style>.a{display:none}</style><div class=a>All that there is.</div>";
        let (mut tree, _) = parse(html, ParseLimits { max_depth: 99, max_nodes: 999 });
        let index = Index::of(&tree);
        apply(&mut tree, &index);
        assert!(
            tree.descendants(NodeId::DOCUMENT).all(|node| tree.attribute(node, "style").is_none())
        );
    }

    #[test]
    fn many_rules_and_elements_end() {
        let sheet = ".a.b{display:none}".repeat(10_000);
        let html = format!("<style>{sheet}</style>{}", "<p class='a b'>x".repeat(10_000));
        let (mut tree, _) = parse(&html, ParseLimits { max_depth: 99, max_nodes: 99_999 });
        let index = Index::of(&tree);
        apply(&mut tree, &index);
        assert!(tree.descendants(NodeId::DOCUMENT).any(|node| hidden_by(&tree, node).is_some()));
    }
}
