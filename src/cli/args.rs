//! The commands and their options.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// Turns web sites into a corpus for retrieval: clean Markdown, cut into chunks that keep their
/// structure, in Parquet files.
#[derive(Debug, Parser)]
#[command(name = "corpus", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
    /// Print the result for machines, as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say more: pages by reason, and links kept out by rule
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// When to use color; `NO_COLOR` is obeyed
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorWhen,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done · 1 the run stopped · 2 wrong usage or config · 3 done, but more pages failed
than run.max_failure_ratio · 4 out of space or I/O error · 5 state locked or too new ·
130/143 interrupted, drained and resumable";

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Crawl, convert, chunk, deduplicate and write: the main job. Goes on where it was
    Crawl(CrawlArgs),
    /// The same without the network: HTML files, folders, WARC, JSON lines
    Convert(ConvertArgs),
    /// Cut Markdown into chunks, one JSON line each
    Chunk(ChunkArgs),
    /// Show one page through every stage, without state
    Page(PageArgs),
    /// Check a config without a request, and say what would happen to addresses
    Check(CheckArgs),
    /// Show the frontier and the corpus at a glance
    Status(ConfigArgs),
    /// Check state, parts and manifest against each other
    Verify(ConfigArgs),
    /// Print the changes since a run as JSON lines
    Changes(ChangesArgs),
    /// Rewrite what is live into fresh parts, and delete the old ones
    Compact(ConfigArgs),
    /// Print a commented config to start from
    Init(InitArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Convert one page that ended the program before
    #[command(hide = true)]
    ConvertSuspect,
}

/// Arguments of `crawl`.
#[derive(Debug, clap::Args)]
pub(super) struct CrawlArgs {
    /// The config
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
    /// Visit every known page again, due or not
    #[arg(long)]
    pub(super) all: bool,
    /// Delete pages that are gone, even more than `recrawl.max_delete_ratio` of the corpus
    #[arg(long)]
    pub(super) allow_deletes: bool,
    #[command(flatten)]
    pub(super) fresh: FreshArgs,
    #[command(flatten)]
    pub(super) schedule: ScheduleArgs,
}

/// Whether a new corpus begins.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct FreshArgs {
    /// Begin a new corpus; the state and the corpus that exist are moved aside
    #[arg(long)]
    pub(super) fresh: bool,
    /// Do not ask before `--fresh`
    #[arg(long, requires = "fresh")]
    pub(super) yes: bool,
}

/// When runs begin.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ScheduleArgs {
    /// Run, wait, run again: every `90m`, `6h`, `1d`
    #[arg(long, value_name = "TIME", value_parser = super::schedule::parse_every)]
    pub(super) every: Option<std::time::Duration>,
    /// Run at the moments that `schedule.cron` names
    #[arg(long, conflicts_with = "every")]
    pub(super) scheduled: bool,
}

/// Arguments of commands that only need a config.
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    /// The config
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
}

/// Arguments of `convert`.
#[derive(Debug, clap::Args)]
pub(super) struct ConvertArgs {
    /// HTML files, folders of them, WARC or JSON lines, each also as `.gz`; `-` reads one page
    #[arg(value_name = "INPUT", required = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// Where the result goes; only `jsonl` can do without
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// What the result is
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    pub(super) format: ConvertFormat,
    /// The config; defaults without one
    #[arg(long, value_name = "CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// Keep whole pages instead of their main content
    #[arg(long)]
    pub(super) no_main_content: bool,
    /// Read every page in this encoding, whatever it declares
    #[arg(long, value_name = "LABEL")]
    pub(super) charset: Option<String>,
}

/// What `convert` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ConvertFormat {
    /// A corpus of Parquet files
    Parquet,
    /// One JSON line a page, in `DIR/pages.jsonl` or on the standard output
    Jsonl,
    /// One `ID.md` a page
    Markdown,
}

/// Arguments of `chunk`.
#[derive(Debug, clap::Args)]
pub(super) struct ChunkArgs {
    /// A Markdown file; `-` reads the standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The config; defaults without one
    #[arg(long, value_name = "CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// Most tokens of a chunk with all that is put around it
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<usize>,
    /// What counts tokens: `o200k_base`, `cl100k_base`, `chars` or the path of a `tokenizer.json`
    #[arg(long, value_name = "NAME")]
    pub(super) tokenizer: Option<String>,
}

/// Arguments of `page`.
#[derive(Debug, clap::Args)]
pub(super) struct PageArgs {
    /// An address, a file, or `-` for the standard input
    #[arg(value_name = "URL|FILE")]
    pub(super) page: String,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub(super) format: PageFormat,
    /// The config; defaults without one
    #[arg(long, value_name = "CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// The address of a page that is read from a file
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Say where a text is in the result, or at which stage and by which rule it was lost
    #[arg(long, value_name = "TEXT")]
    pub(super) find: Option<String>,
    /// Keep only elements that match a CSS selector
    #[arg(long, value_name = "CSS", conflicts_with = "no_main_content")]
    pub(super) select: Option<String>,
    /// Keep the whole page instead of its main content
    #[arg(long)]
    pub(super) no_main_content: bool,
    /// Put a header with address, status and a notice for language models before the Markdown
    #[arg(long)]
    pub(super) for_model: bool,
}

/// What `page` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PageFormat {
    /// The Markdown
    Markdown,
    /// The text without marks
    Text,
    /// Everything, as one JSON object
    Json,
    /// The chunks as JSON lines
    Chunks,
    /// What was kept and what each rule removed
    Stats,
    /// The blocks of the page, one a line
    Elements,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The config
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
    /// Addresses to explain
    #[arg(value_name = "URL")]
    pub(super) urls: Vec<String>,
    /// Also ask robots.txt and sitemaps; without an address, list what a first run would fetch
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Arguments of `changes`.
#[derive(Debug, clap::Args)]
pub(super) struct ChangesArgs {
    /// The config
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
    /// The last run whose changes are known
    #[arg(long, value_name = "RUN")]
    pub(super) since: Option<String>,
}

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The site to crawl
    #[arg(value_name = "URL")]
    pub(super) url: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}
