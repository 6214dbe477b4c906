//! x
mod fence;
mod parse;
mod tree;
