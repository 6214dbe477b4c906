//! What the program does as a whole, in one binary, so that its dependencies are linked once.

mod conformance;
mod markdown;
