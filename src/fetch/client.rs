//! One request and its answer, within the limits.

use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::coding::{CodingError, DecodeLimits, decode, decode_start};
use super::errors::page_error;
use super::link_field::{self, LinkField};
use super::media_type::{SNIFF_BYTES, effective_type};
use super::own_headers::OwnHeaders;
use super::resolver::GuardedResolver;
use super::retry_after::parse_retry_after;
use super::robots_file::decode_limits;
use super::{AddressPolicy, Budget, FetchError, FetchOptions, Permit, PolitenessOptions};
use crate::model::{ErrorCode, FetchedPage, PageError, Refresh, Timestamp, Validators, WebUrl};

/// The content codings that are asked for: exactly those that are decoded.
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// What is asked for first: pages, then any other.
const ACCEPT: &str =
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5";

/// How long a body may be slower than `min_bytes_per_sec`.
const SLOW_FOR: Duration = Duration::from_secs(20);

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Get<'a> {
    /// The address.
    pub url: &'a WebUrl,
    /// What makes the request conditional.
    pub validators: &'a Validators,
    /// The time of day, for fields that state one.
    pub now: Timestamp,
}

/// How much of a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it: a longer one than the limit is an error.
    Whole,
    /// Its first bytes, so many at most. A coded body is read whole all the same.
    Start(usize),
    /// As `Start`, and of a coded body, too, no more than so many bytes count.
    List(usize),
}

/// What a server answered.
#[derive(Debug)]
pub enum Answer {
    /// A page, whole.
    Page(Box<FetchedPage>),
    /// Another place.
    Redirect {
        /// The HTTP status.
        status: u16,
        /// The place.
        location: WebUrl,
    },
    /// The page is as the validators say.
    NotModified,
    /// No page.
    Status {
        /// The HTTP status.
        status: u16,
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
    },
}

/// Makes requests.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    own: OwnHeaders,
    policy: Arc<AddressPolicy>,
    options: FetchOptions,
    limits: DecodeLimits,
}

impl Client {
    pub(super) fn new(
        options: &FetchOptions,
        politeness: &PolitenessOptions,
    ) -> Result<Self, FetchError> {
        let policy = Arc::new(options.address_policy()?);
        let mut builder = reqwest::Client::builder()
            .user_agent(politeness.user_agent())
            .default_headers(accepted())
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .dns_resolver(Arc::new(GuardedResolver::new(Arc::clone(&policy))))
            .connect_timeout(Duration::from_secs(options.connect_timeout_secs))
            .http2_max_header_list_size(options.max_header_bytes)
            .pool_max_idle_per_host(2)
            .pool_idle_timeout(Duration::from_secs(30));
        if !options.proxy.is_empty() {
            let proxy = reqwest::Proxy::all(&options.proxy).map_err(|_| FetchError::Proxy)?;
            builder = builder.proxy(proxy);
        }
        let http = builder.build().map_err(FetchError::Client)?;
        let own = OwnHeaders::read(&options.headers)?;
        Ok(Self { http, own, policy, options: options.clone(), limits: decode_limits(options) })
    }

    /// Has `url`'s authority see the user's own headers.
    pub(super) fn add_home(&mut self, url: &WebUrl) {
        self.own.add_home(url);
    }

    /// Longest body, in bytes.
    pub(super) fn max_body_bytes(&self) -> usize {
        self.options.max_body_bytes
    }

    /// Asks for `get` and reads the answer whole.
    pub(super) async fn get(
        &self,
        get: &Get<'_>,
        extent: Extent,
        budget: &Budget,
    ) -> Result<(Answer, Permit), PageError> {
        if let Some(ip) = get.url.ip() {
            self.check_address(ip)?;
        }
        let began = Instant::now();
        let deadline = began + Duration::from_secs(self.options.timeout_secs);
        let first_byte = began
            + Duration::from_secs(
                self.options.connect_timeout_secs + self.options.first_byte_timeout_secs,
            );
        let mut request = self.http.get(get.url.as_url().clone());
        if let Some(own) = self.own.of(get.url) {
            request = request.headers(own.clone());
        }
        let request = request.headers(conditions(get.validators));
        let response = timeout_at(first_byte.min(deadline), request.send())
            .await
            .map_err(|_| timed_out("no answer came in time"))?
            .map_err(|error| page_error(&error))?;
        if let Some(peer) = response.remote_addr().filter(|_| self.options.proxy.is_empty()) {
            self.check_address(peer.ip())?;
        }
        self.check_headers(response.headers())?;
        // Waiting for room is not the server's slowness.
        let waits = Instant::now();
        let mut permit = budget.reserve().await;
        let began = began + waits.elapsed();
        let deadline = deadline + waits.elapsed();
        let arriving = Arriving { response, began, extent };
        let answer = timeout_at(deadline, self.read(get, arriving, &mut permit))
            .await
            .map_err(|_| timed_out("the answer did not end in time"))??;
        Ok((answer, permit))
    }

    fn check_headers(&self, headers: &HeaderMap) -> Result<(), PageError> {
        let length = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        let most = self.options.max_header_bytes;
        if length.sum::<usize>() > most as usize {
            let message = format!("the headers are longer than {most} bytes");
            return Err(PageError::new(ErrorCode::FetchTooLarge, message));
        }
        Ok(())
    }

    fn check_address(&self, ip: std::net::IpAddr) -> Result<(), PageError> {
        self.policy
            .check(ip)
            .map_err(|refused| PageError::new(ErrorCode::FetchAddressRefused, refused.to_string()))
    }

    async fn read(
        &self,
        get: &Get<'_>,
        arriving: Arriving,
        permit: &mut Permit,
    ) -> Result<Answer, PageError> {
        let response = &arriving.response;
        let status = response.status().as_u16();
        match status {
            200..=205 => match refreshed(get, response) {
                Some(location) => Ok(Answer::Redirect { status, location }),
                None => self.page(get, arriving, permit).await,
            },
            301 | 302 | 303 | 307 | 308 => redirect(get, response),
            304 if *get.validators != Validators::default() => Ok(Answer::NotModified),
            400.. => {
                let retry_after = text(response.headers(), &header::RETRY_AFTER)
                    .and_then(|value| parse_retry_after(&value, get.now.0 / 1_000_000));
                Ok(Answer::Status { status, retry_after })
            }
            _ => {
                let message = format!("the server answered {status}, which was not asked for");
                Err(PageError::new(ErrorCode::FetchStatus, message))
            }
        }
    }

    async fn page(
        &self,
        get: &Get<'_>,
        arriving: Arriving,
        permit: &mut Permit,
    ) -> Result<Answer, PageError> {
        let began = arriving.began;
        let (limits, decode): (_, Decode) = match arriving.extent {
            Extent::Whole | Extent::Start(_) => (self.limits, decode),
            Extent::List(bytes) => {
                let max_bytes = self.limits.max_bytes.max(bytes);
                (DecodeLimits { max_bytes, ..self.limits }, decode_start)
            }
        };
        let status = arriving.response.status().as_u16();
        let headers = arriving.response.headers().clone();
        let wire = self.body(arriving, permit).await?;
        let coding = text(&headers, &header::CONTENT_ENCODING).unwrap_or_default();
        if !coding.is_empty() {
            // A coded body may become as long as the limits let it: room for that comes first.
            let longest = wire.len().saturating_mul(limits.max_ratio);
            let longest = longest.max(limits.ratio_after_bytes).min(limits.max_bytes);
            permit.grow_to(wire.len() + longest).await;
        }
        let body = decode(wire, &coding, &limits).map_err(|error| coding_error(&error))?;
        permit.shrink_to(body.len());
        let declared = text(&headers, &header::CONTENT_TYPE);
        let media = effective_type(
            declared.as_deref(),
            body.get(..SNIFF_BYTES.min(body.len())).unwrap_or_default(),
        );
        let values = |name: &str| {
            let values = headers.get_all(name).iter();
            values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect::<Vec<_>>()
        };
        let links: Vec<LinkField> =
            values("link").iter().flat_map(|value| link_field::parse(value)).collect();
        let target = |link: &LinkField| get.url.join(&link.target).ok();
        Ok(Answer::Page(Box::new(FetchedPage {
            url: get.url.clone(),
            status,
            media_type: media.essence().to_owned(),
            charset: media.charset().map(str::to_owned),
            robots_tags: values("x-robots-tag"),
            link_canonical: links.iter().find(|link| link.is_canonical()).and_then(target),
            links: links.iter().filter(|link| link.leads_on()).filter_map(target).collect(),
            cache_control: text(&headers, &header::CACHE_CONTROL),
            usage: [values("content-usage"), values("content-signal")].concat(),
            validators: Validators {
                etag: text(&headers, &header::ETAG),
                last_modified: text(&headers, &header::LAST_MODIFIED),
            },
            fetched_at: get.now,
            elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            body,
        })))
    }

    /// Reads a body as it comes over the wire.
    async fn body(&self, arriving: Arriving, permit: &mut Permit) -> Result<Vec<u8>, PageError> {
        let Arriving { mut response, began, extent } = arriving;
        let most = self.options.max_body_bytes;
        let too_large = || {
            let message = format!("the body is longer than {most} bytes");
            PageError::new(ErrorCode::FetchTooLarge, message)
        };
        let enough = match extent {
            Extent::Start(bytes) | Extent::List(bytes)
                if !response.headers().contains_key(header::CONTENT_ENCODING) =>
            {
                bytes
            }
            _ => usize::MAX,
        };
        let is_whole = enough == usize::MAX;
        if is_whole && response.content_length().is_some_and(|length| length > most as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| broken_body(&error))? {
            if is_whole && body.len() + piece.len() > most {
                return Err(too_large());
            }
            permit.grow_to(body.len() + piece.len()).await;
            body.extend_from_slice(&piece);
            if body.len() >= enough {
                body.truncate(enough);
                break;
            }
            let elapsed = began.elapsed();
            let least = self.options.min_bytes_per_sec.saturating_mul(elapsed.as_secs());
            if elapsed > SLOW_FOR && (body.len() as u64) < least {
                return Err(timed_out("the body came too slowly"));
            }
        }
        Ok(body)
    }
}

/// Takes the codings off a body, whole or in part.
type Decode = fn(Vec<u8>, &str, &DecodeLimits) -> Result<Vec<u8>, CodingError>;

/// A response whose body is still to be read.
struct Arriving {
    response: Response,
    /// When the request began.
    began: Instant,
    extent: Extent,
}

/// Where a `Refresh` field sends the reader at once, other than to the page itself.
fn refreshed(get: &Get<'_>, response: &Response) -> Option<WebUrl> {
    let field = response.headers().get(header::REFRESH)?;
    let refresh = Refresh::parse(field.to_str().ok()?).filter(Refresh::is_redirect)?;
    get.url.join(refresh.target).ok().filter(|target| target != get.url)
}

fn timed_out(message: &str) -> PageError {
    PageError::new(ErrorCode::FetchTimeout, message)
}

/// A body that ends early is a broken body, whatever the library calls it.
fn broken_body(error: &reqwest::Error) -> PageError {
    let mut error = page_error(error);
    if error.code == ErrorCode::FetchProtocol {
        error.code = ErrorCode::FetchBadBody;
    }
    error
}

fn coding_error(error: &CodingError) -> PageError {
    let code = match error {
        CodingError::TooLarge(_) | CodingError::Ratio(_) => ErrorCode::FetchTooLarge,
        _ => ErrorCode::FetchBadBody,
    };
    PageError::new(code, error.to_string())
}

fn redirect(get: &Get<'_>, response: &Response) -> Result<Answer, PageError> {
    let status = response.status().as_u16();
    let refused = |message: String| PageError::new(ErrorCode::FetchBadRedirect, message);
    let location = response
        .headers()
        .get(header::LOCATION)
        .ok_or_else(|| refused(format!("the server answered {status} without a place to go")))?;
    // Servers send raw UTF-8 against the standard; browsers take it.
    let location = String::from_utf8_lossy(location.as_bytes());
    let location = get
        .url
        .join(&location)
        .map_err(|error| refused(format!("it leads to no page: {error}")))?;
    Ok(Answer::Redirect { status, location })
}

fn conditions(validators: &Validators) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut insert = |name, value: &Option<String>| {
        let value = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok());
        if let Some(value) = value {
            headers.insert(name, value);
        }
    };
    insert(header::IF_NONE_MATCH, &validators.etag);
    insert(header::IF_MODIFIED_SINCE, &validators.last_modified);
    headers
}

/// What every request says that is accepted.
fn accepted() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPT_ENCODING));
    headers
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<&str> =
        headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
