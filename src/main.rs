//! The program `corpus`; see the library for everything.

use std::process::ExitCode;

/// Pages are made of many small strings: this allocator saves a third of the time they cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    corpus::cli::main()
}
