//! Blocks of code: their text as shown, without gutters, and their language.

use std::collections::HashSet;

use super::hidden::hidden_by;
use super::tree::{NodeId, Step, Tree};
use super::unseen;
use crate::model::Ledger;

/// Class words of elements that show line numbers beside code, or a button over it.
const GUTTER: &[&str] = &[
    "lineno",
    "linenos",
    "linenumber",
    "linenumbers",
    "line-number",
    "line-numbers",
    "linenums",
    "line-numbers-rows",
    "gutter",
    "rouge-gutter",
    "ln",
    "lnt",
    "lnum",
    "linenodiv",
    "linenr",
    "hljs-ln-numbers",
    "hljs-ln-n",
    "react-syntax-highlighter-line-number",
    "code-line-number",
    "pre-numbering",
    "copy",
    "copy-btn",
    "copybtn",
    "copy-button",
    "copy-code",
    "clipboard",
    "code-copy",
];

/// Class words that name no language although they stand where one would.
const NO_LANGUAGE: &[&str] = &[
    "",
    "none",
    "text",
    "txt",
    "plain",
    "plaintext",
    "default",
    "nohighlight",
    "no-highlight",
    "source",
    "code",
    "ansi",
    "wrapper",
    "notranslate",
];

/// Languages whose name alone says what code is in.
const LANGUAGES: &[&str] = &[
    "bash",
    "c++",
    "clojure",
    "cpp",
    "csharp",
    "css",
    "dart",
    "diff",
    "dockerfile",
    "elixir",
    "erlang",
    "fortran",
    "go",
    "golang",
    "graphql",
    "groovy",
    "haskell",
    "html",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "lua",
    "makefile",
    "markdown",
    "matlab",
    "nginx",
    "ocaml",
    "perl",
    "php",
    "powershell",
    "protobuf",
    "python",
    "r",
    "ruby",
    "rust",
    "scala",
    "scheme",
    "scss",
    "shell",
    "sql",
    "swift",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "xml",
    "yaml",
    "yml",
    "zig",
];

/// Whether the element at `id` is a gutter or a button of a code block.
pub(super) fn is_gutter(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return false };
    if element.tag() == "button" {
        return true;
    }
    let has_class = element.attribute("class").is_some_and(|classes| {
        classes
            .split_ascii_whitespace()
            .any(|class| GUTTER.iter().any(|gutter| gutter.eq_ignore_ascii_case(class)))
    });
    has_class
        || element.attribute("data-line-number").is_some()
            && tree.text_content(id).trim().is_empty()
}

/// Whether the element at `id` shows line numbers beside code, and nothing else.
pub(super) fn is_number_column(tree: &Tree, id: NodeId) -> bool {
    tree.attribute(id, "class").is_some()
        && is_gutter(tree, id)
        && tree.text_content(id).chars().all(|c| c.is_ascii_digit() || c.is_whitespace())
}

/// The code that the `pre` at `id` shows.
///
/// Line ends come from the text, from `br` and from elements that are lines of their own.
/// Blank lines before and after are not part of it.
pub(super) fn code_text(tree: &Tree, id: NodeId, ledger: &mut Ledger) -> String {
    let mut code = String::new();
    let numbers = line_numbers(tree, id);
    let mut step = Some(Step::Enter(id));
    while let Some(now) = step {
        step = tree.after(now, id);
        match now {
            Step::Enter(node)
                if node != id
                    && let Some(rule) = unread(tree, node, &numbers) =>
            {
                ledger.remove(rule, &tree.text_content(node));
                step = tree.after(Step::Leave(node), id);
            }
            Step::Enter(node) => enter(tree, node, id, &mut code),
            Step::Leave(node) if node != id && is_line(tree, node) => end_line(&mut code),
            Step::Leave(_) => {}
        }
    }
    // Code that reads otherwise than it runs is worse than words that do.
    code = unseen::shown(&code, ledger).unwrap_or(code);
    let first = code.find(|c: char| !c.is_whitespace()).unwrap_or(code.len());
    let start = code.get(..first).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    code.get(start..).unwrap_or_default().trim_end().to_owned()
}

/// The rule that keeps an element out of the code around it.
fn unread(tree: &Tree, node: NodeId, numbers: &HashSet<NodeId>) -> Option<&'static str> {
    let is_number = numbers.contains(&node) || is_gutter(tree, node);
    is_number.then_some("extract.gutter").or_else(|| hidden_by(tree, node))
}

/// What numbers the lines of the code at `id`, where each is an element of its own and begins with
/// an element that counts: such numbers are known by their sequence, whatever they are named.
fn line_numbers(tree: &Tree, id: NodeId) -> HashSet<NodeId> {
    let elements = |node| tree.children(node).filter(|child| tree.element(*child).is_some());
    let mut numbers = HashSet::new();
    let mut last = None;
    for line in elements(id) {
        let Some(first) = elements(line).next().filter(|_| is_line(tree, line)) else {
            return HashSet::new();
        };
        let text = tree.text_content(first);
        let number = text.trim().parse().ok().filter(|number: &u32| {
            last.is_none_or(|last: u32| last.checked_add(1) == Some(*number))
        });
        let Some(number) = number.filter(|_| tree.next(first).is_some()) else {
            return HashSet::new();
        };
        last = Some(number);
        numbers.insert(first);
    }
    if numbers.len() > 1 { numbers } else { HashSet::new() }
}

fn enter(tree: &Tree, node: NodeId, root: NodeId, code: &mut String) {
    if let Some(text) = tree.text(node) {
        code.push_str(text);
    } else if tree.tag(node) == "br" {
        code.push('\n');
    } else if node != root && is_line(tree, node) {
        end_line(code);
    }
}

fn is_line(tree: &Tree, node: NodeId) -> bool {
    matches!(
        tree.tag(node),
        "div"
            | "p"
            | "li"
            | "tr"
            | "ol"
            | "ul"
            | "dl"
            | "dt"
            | "dd"
            | "table"
            | "tbody"
            | "pre"
            | "blockquote"
            | "section"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
    )
}

fn end_line(code: &mut String) {
    if !code.is_empty() && !code.ends_with('\n') {
        code.push('\n');
    }
}

/// The language that the `pre` at `id` is marked with: on itself, on a `code` in it, or on one of
/// two elements around it.
pub(super) fn language(tree: &Tree, id: NodeId) -> String {
    let inner = tree.descendants(id).take(8).find(|node| tree.tag(*node) == "code");
    let outer = tree.ancestors(id).take(3);
    [inner, Some(id)]
        .into_iter()
        .flatten()
        .chain(outer)
        .find_map(|node| declared_language(tree, node))
        .unwrap_or_default()
}

fn declared_language(tree: &Tree, node: NodeId) -> Option<String> {
    let element = tree.element(node)?;
    let data = ["data-lang", "data-language", "data-code-language", "data-enlighter-language"];
    let from_data = data.iter().find_map(|name| element.attribute(name));
    let classes = element.attribute("class").unwrap_or_default();
    from_data
        .and_then(known)
        .or_else(|| brush(classes))
        .or_else(|| classes.split_ascii_whitespace().find_map(from_class))
        .or_else(|| bare_class(element.tag(), classes))
}

/// `brush: js` of older highlighters.
fn brush(classes: &str) -> Option<String> {
    let (_, after) = classes.split_once("brush:")?;
    known(after.trim_start().split([' ', ';']).next()?)
}

fn from_class(class: &str) -> Option<String> {
    let prefixes = [
        "language-",
        "lang-",
        "lang:",
        "highlight-source-",
        "highlight-text-",
        "highlight-",
        "sourceCode-",
    ];
    prefixes.iter().find_map(|prefix| class.strip_prefix(prefix)).and_then(known)
}

/// `<pre class="sourceCode python">` and `<code class="hljs rust">`: the word beside the mark; and
/// `<code class="ruby">`, where it stands alone.
fn bare_class(tag: &str, classes: &str) -> Option<String> {
    let words: Vec<&str> = classes.split_ascii_whitespace().collect();
    if let ("pre" | "code", [word]) = (tag, words.as_slice()) {
        return known(word).filter(|word| LANGUAGES.contains(&word.as_str()));
    }
    let is_marked =
        words.iter().any(|word| matches!(*word, "hljs" | "sourceCode" | "prettyprint" | "src"));
    if !is_marked || !matches!(tag, "pre" | "code" | "div") {
        return None;
    }
    words
        .iter()
        .filter(|word| !matches!(**word, "hljs" | "sourceCode" | "prettyprint" | "src"))
        .find_map(|word| known(word.strip_prefix("src-").unwrap_or(word)))
}

/// `name` in lower case, where it can name a language.
fn known(name: &str) -> Option<String> {
    let name = name.trim().to_lowercase();
    let name = name.strip_suffix("-basic").unwrap_or(&name).to_owned();
    let is_word = name.len() <= 24
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'));
    (is_word && !NO_LANGUAGE.contains(&name.as_str())).then_some(name)
}
