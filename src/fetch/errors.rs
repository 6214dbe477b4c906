//! What can go wrong with a request, and which kind of page error each is.

use std::error::Error;
use std::io;

use rustls::{CertificateError, Error as TlsError};

use super::address::RefusedAddress;
use crate::model::{ErrorCode, PageError};

/// Why no fetcher can be made of the options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// An entry of `fetch.headers`, by its number from 1, is not a header. It may be a secret.
    #[error("header {0} is not of the form `Name: value`")]
    Header(usize),
    /// An entry of `fetch.allow_private` is not a network.
    #[error("`{0}` is not a network of the form `address/bits`")]
    Network(String),
    /// `fetch.proxy` is not an address. It may hold a password.
    #[error("the proxy is not an address")]
    Proxy,
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
    if let Some(error) = tls_error(error) {
        return PageError::new(tls_code(error), error.to_string());
    }
    let text = causes.last().cloned().unwrap_or_default();
    let mentions =
        |words: &[&str]| causes.iter().any(|cause| words.iter().any(|w| cause.contains(w)));
    let code = if error.is_timeout() {
        ErrorCode::FetchTimeout
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

/// What TLS says is wrong. It stands within errors of the connection, which do not name what they
/// hold as their source.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    chain(error).find_map(|error| within(error).downcast_ref())
}

/// What an error of the connection holds, else the error itself.
fn within<'a>(mut error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    while let Some(held) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        error = held;
    }
    error
}

/// Which kind of error it is: what an operator has to do differs.
fn tls_code(error: &TlsError) -> ErrorCode {
    use CertificateError as Certificate;
    match error {
        TlsError::InvalidCertificate(error) => match error {
            Certificate::Expired
            | Certificate::ExpiredContext { .. }
            | Certificate::NotValidYet
            | Certificate::NotValidYetContext { .. } => ErrorCode::FetchTlsExpired,
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                ErrorCode::FetchTlsWrongHost
            }
            _ => ErrorCode::FetchTlsUntrusted,
        },
        TlsError::NoCertificatesPresented => ErrorCode::FetchTlsUntrusted,
        _ => ErrorCode::FetchTls,
    }
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
