//! What can go wrong with a request, and which kind of page error each is.

use std::error::Error;

use super::address::RefusedAddress;
use crate::model::{ErrorCode, PageError};

/// Why no fetcher can be made of the options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// An entry of `fetch.headers` is not a header.
    #[error("`{0}` is not a header of the form `Name: value`")]
    Header(String),
    /// An entry of `fetch.allow_private` is not a network.
    #[error("`{0}` is not a network of the form `address/bits`")]
    Network(String),
    /// `fetch.proxy` is not an address.
    #[error("`{0}` is not the address of a proxy")]
    Proxy(String),
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// The page error that a failed request is.
pub(super) fn page_error(error: &reqwest::Error) -> PageError {
    let causes = causes(error);
    if let Some(refused) = refused_address(error) {
        return PageError::new(ErrorCode::FetchAddressRefused, refused.to_string());
    }
    let text = causes.last().cloned().unwrap_or_default();
    let mentions =
        |words: &[&str]| causes.iter().any(|cause| words.iter().any(|w| cause.contains(w)));
    let code = if error.is_timeout() {
        ErrorCode::FetchTimeout
    } else if mentions(&["certificate", "tls", "TLS", "handshake", "CertificateError"]) {
        ErrorCode::FetchTls
    } else if mentions(&["dns error", "failed to lookup address", "Name or service not known"]) {
        ErrorCode::FetchDns
    } else if error.is_connect() {
        ErrorCode::FetchConnect
    } else if error.is_body() || error.is_decode() {
        ErrorCode::FetchBadBody
    } else {
        ErrorCode::FetchProtocol
    };
    PageError::new(code, text)
}

/// What `error` and each of its causes say.
fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    chain(error).map(ToString::to_string).collect()
}

fn refused_address<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a RefusedAddress> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// `error` and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}
