//! What became of a page in a run: exactly one [`PageOutcome`] per page and run.

use serde::{Deserialize, Serialize};

use super::CanonicalUrl;

/// What became of a page in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOutcome {
    /// Its Markdown and chunks are in the corpus.
    Collected,
    /// It is as the corpus has it; nothing was written.
    Unchanged,
    /// Its content is that of another page, or it only leads to one.
    Duplicate {
        /// The address of the page whose chunks stand for it.
        of: String,
        /// How it is a duplicate.
        by: DuplicateBy,
    },
    /// A rule keeps it out of the corpus.
    Excluded(Exclusion),
    /// The server says that it does not exist (404) or no longer exists (410).
    Gone {
        /// The HTTP status.
        status: u16,
    },
    /// It could not be fetched or converted.
    Failed(PageError),
}

/// In which way a page is a duplicate of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateBy {
    /// The server redirects it there.
    Redirect,
    /// The bytes of the body are equal.
    Body,
    /// The Markdown is equal.
    Markdown,
    /// The Markdown is nearly equal, and `dedup.near` drops such pages.
    Likeness,
}

impl DuplicateBy {
    /// The code in the `reason` column.
    pub fn code(self) -> &'static str {
        match self {
            Self::Redirect => "duplicate.redirect",
            Self::Body => "duplicate.body",
            Self::Markdown => "duplicate.markdown",
            Self::Likeness => "duplicate.near",
        }
    }
}

impl PageOutcome {
    /// The word in the `outcome` column.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Collected => "collected",
            Self::Unchanged => "unchanged",
            Self::Duplicate { .. } => "duplicate",
            Self::Excluded(_) => "excluded",
            Self::Gone { .. } => "gone",
            Self::Failed(_) => "failed",
        }
    }

    /// The code in the `reason` column: empty for pages that are in the corpus.
    pub fn reason(&self) -> String {
        match self {
            Self::Collected | Self::Unchanged => String::new(),
            Self::Duplicate { by, .. } => by.code().to_owned(),
            Self::Excluded(exclusion) => exclusion.code().to_owned(),
            Self::Gone { status } => format!("gone.{status}"),
            Self::Failed(error) => error.code.to_string(),
        }
    }

    /// The address of the page that this one is a duplicate of.
    pub fn duplicate_of(&self) -> Option<&str> {
        match self {
            Self::Duplicate { of, .. } => Some(of),
            _ => None,
        }
    }

    /// The outcome of a page that only redirects to `target`.
    pub fn redirect(target: &CanonicalUrl) -> Self {
        Self::Duplicate { of: target.to_string(), by: DuplicateBy::Redirect }
    }
}

codes! {
    /// Why a rule keeps a page out of the corpus.
    Exclusion {
        /// robots.txt forbids fetching it.
        RobotsDisallowed = "robots.disallowed",
        /// A meta element or `X-Robots-Tag` asks not to index it.
        Noindex = "robots.noindex",
        /// The site refuses its use as the input of a model (Content-Signal, Content-Usage).
        UsageRefused = "usage.ai_input",
        /// It is neither HTML nor plain text.
        MediaType = "type.unsupported",
        /// It has no text that a reader would see.
        Empty = "content.empty",
        /// It is in none of `quality.languages`.
        Language = "quality.language",
        /// It has fewer words than `quality.min_words`.
        FewWords = "quality.words",
        /// More of it is links than `quality.max_link_density`.
        LinkDensity = "quality.link_density",
        /// Fewer of its words are stop words than `quality.min_stop_word_share`.
        FewStopWords = "quality.stop_word_share",
        /// It has more number signs and ellipses than `quality.max_symbol_share`.
        Symbols = "quality.symbol_share",
        /// More of it is repeated lines than `quality.max_repetition`.
        Repetition = "quality.repetition",
        /// It does not meet one of `quality.heuristics`.
        Heuristic = "quality.heuristic",
        /// It was in the corpus, and is now what its host answers for pages that do not exist.
        SoftNotFound = "content.soft_404",
        /// The scope changed since it was found.
        OutOfScope = "scope.changed",
        /// Pages whose addresses differ from its own only in numbers have had no new text for long.
        TrapRepeating = "trap.repeating",
        /// Pages whose addresses differ from its own only in a date led nowhere else for long.
        TrapCalendar = "trap.calendar",
        /// It redirects to an address outside the scope.
        RedirectOutOfScope = "redirect.out_of_scope",
    }
}

codes! {
    /// What went wrong with a page.
    ErrorCode {
        /// The host's name has no address.
        FetchDns = "fetch.dns",
        /// No connection could be made.
        FetchConnect = "fetch.connect",
        /// The TLS handshake failed: no version or cipher in common, or the server refuses it.
        FetchTls = "fetch.tls",
        /// The certificate is expired, or not valid yet.
        FetchTlsExpired = "fetch.tls_expired",
        /// The certificate is for another host.
        FetchTlsWrongHost = "fetch.tls_wrong_host",
        /// Nobody that is trusted stands for the certificate: it is self-signed, revoked or broken.
        FetchTlsUntrusted = "fetch.tls_untrusted",
        /// Connecting, the first byte or the whole answer took too long.
        FetchTimeout = "fetch.timeout",
        /// The connection ended early, or the answer is not HTTP.
        FetchProtocol = "fetch.protocol",
        /// The body is longer than `fetch.max_body_bytes`.
        FetchTooLarge = "fetch.too_large",
        /// The body is shorter than declared, or its coding is broken.
        FetchBadBody = "fetch.bad_body",
        /// The address is private or otherwise not to be contacted.
        FetchAddressRefused = "fetch.address_refused",
        /// A redirect without a usable target, or too many of them.
        FetchBadRedirect = "fetch.bad_redirect",
        /// The server answered with an error of its own (5xx) or asked to wait (429).
        FetchServer = "fetch.server_error",
        /// The server refuses the page (401, 403 or another 4xx).
        FetchRefused = "fetch.refused",
        /// A status that means nothing for an unconditional request.
        FetchStatus = "fetch.unexpected_status",
        /// robots.txt could not be read, so nothing of the host may be fetched.
        RobotsUnreachable = "fetch.robots_unreachable",
        /// The body is not text although it is declared as such.
        ExtractBinary = "extract.binary",
        /// The file could not be read.
        InputUnreadable = "input.unreadable",
        /// The conversion hit a defect of this program.
        InternalPanic = "internal.panic",
        /// The page ended the program three times and is left alone.
        InternalPoison = "internal.poison",
    }
}

/// An error that concerns one page only: the run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct PageError {
    /// What kind of error.
    pub code: ErrorCode,
    /// What happened, said to a person.
    pub message: String,
}

impl PageError {
    /// Makes an error of kind `code`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Whether asking again later may help.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::FetchDns
                | ErrorCode::FetchConnect
                | ErrorCode::FetchTimeout
                | ErrorCode::FetchProtocol
                | ErrorCode::FetchBadBody
                | ErrorCode::FetchServer
        )
    }
}
