//! Plain text and Markdown as documents.

use super::escape::{BlockText, Place};
use super::write::fenced;
use crate::model::{Document, Heading, Ledger, Markdown};

/// Plain text as Markdown: paragraphs stay paragraphs, indented or aligned blocks become code so
/// that their layout survives.
pub(super) fn markdown(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut blocks: Vec<String> = Vec::new();
    for block in text.split("\n\n").map(|block| block.trim_matches('\n')) {
        if block.trim().is_empty() {
            continue;
        }
        let is_laid_out = block.lines().any(|line| {
            line.starts_with([' ', '\t'])
                || line.trim_start().contains("   ")
                || line.contains('\t')
        });
        blocks.push(if is_laid_out { fenced("", block.trim_end()) } else { paragraph(block) });
    }
    blocks.join("\n\n")
}

fn paragraph(block: &str) -> String {
    let mut text = BlockText::default();
    for (n, line) in block.lines().enumerate() {
        if n > 0 {
            text.push_markup("\n");
        }
        text.push_text(line.trim_end());
    }
    text.escaped(Place::Paragraph)
}

/// A document of Markdown alone.
pub(super) fn document(markdown: &str, ledger: Ledger) -> Document {
    let markdown = Markdown::new(markdown);
    let headings: Vec<Heading> = Vec::new();
    Document { markdown, headings, ledger, ..Document::default() }
}
