//! Answers one request from the files of a site.
//!
//! In: a request. Out: a file, a redirect, 304 or 404. Promise: the file is below the site's
//! folder, whatever the path says and wherever symbolic links lead. It changes nothing.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header},
};

use super::Site;

/// The page that answers for missing ones, where the site has it.
const NOT_FOUND_PAGE: &str = "404.html";

/// Extension → media type. HTML is without a charset: pages declare their own.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("html", "text/html"),
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
];

/// A file as it is served.
struct Resource {
    bytes: Vec<u8>,
    media_type: &'static str,
    etag: String,
    modified: Option<SystemTime>,
}

/// What a path leads to.
enum Found {
    File(Resource),
    /// A folder whose path lacks the slash that relative links need.
    Folder,
    Nothing,
}

/// Answers a GET or HEAD request.
pub(super) async fn answer(
    State(site): State<Arc<Site>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    if let Some(target) = site.redirects.get(uri.path()) {
        return redirect(target);
    }
    match find(&site, uri.path()).await {
        Ok(Found::File(resource)) if is_known(&resource, &headers) => {
            let known = Resource { bytes: Vec::new(), ..resource };
            file(StatusCode::NOT_MODIFIED, known)
        }
        Ok(Found::File(resource)) => file(StatusCode::OK, resource),
        Ok(Found::Folder) => {
            let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
            redirect(&format!("{}/{query}", uri.path()))
        }
        Ok(Found::Nothing) => not_found(&site).await,
        Err(error) => {
            plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("cannot read the file: {error}\n"))
        }
    }
}

async fn find(site: &Site, path: &str) -> io::Result<Found> {
    let Some(relative) = relative_path(path) else { return Ok(Found::Nothing) };
    let mut file = site.root.join(relative);
    if path.ends_with('/') {
        file.push("index.html");
    }
    match tokio::fs::canonicalize(&file).await {
        // A symbolic link may lead out of the folder.
        Ok(real) if !real.starts_with(&site.root) => Ok(Found::Nothing),
        Ok(real) if real.is_dir() => Ok(Found::Folder),
        Ok(real) => read(&real, &site.origin).await.map(Found::File),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Found::Nothing)
        }
        Err(error) => Err(error),
    }
}

/// The file name below the folder that `path` asks for; `None` where a segment is hidden or would
/// climb out.
fn relative_path(path: &str) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let name = percent_decode(segment)?;
        if name.starts_with(['.', '_']) || name.contains(['/', '\\', '\0']) {
            return None;
        }
        relative.push(name);
    }
    Some(relative)
}

/// Decodes `%XX`; `None` where the result is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut pieces = text.split('%');
    bytes.extend(pieces.next().unwrap_or_default().bytes());
    for piece in pieces {
        let digits = piece.get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(piece.bytes().skip(2));
    }
    String::from_utf8(bytes).ok()
}

async fn read(path: &Path, origin: &str) -> io::Result<Resource> {
    let mut bytes = tokio::fs::read(path).await?;
    if names_origin(path) {
        bytes = String::from_utf8_lossy(&bytes).replace("{origin}", origin).into_bytes();
    }
    let digits = blake3::hash(&bytes).to_hex();
    // 64 bits are enough to tell the contents of one path apart.
    let etag = format!("\"{:.16}\"", digits.as_str());
    let modified = tokio::fs::metadata(path).await?.modified().ok();
    Ok(Resource { media_type: media_type(path), bytes, etag, modified })
}

/// Whether `{origin}` stands for the site's address in the file.
fn names_origin(path: &Path) -> bool {
    path.ends_with("robots.txt") || path.extension().is_some_and(|extension| extension == "xml")
}

fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    MEDIA_TYPES
        .iter()
        .find(|(known, _)| extension.eq_ignore_ascii_case(known))
        .map_or("application/octet-stream", |(_, media_type)| media_type)
}

/// Whether the client has this very content (RFC 9110 §13.2.2: an entity tag outweighs a date).
fn is_known(resource: &Resource, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        return tags
            .split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == resource.etag);
    }
    let since =
        text(header::IF_MODIFIED_SINCE).and_then(|date| httpdate::parse_http_date(date).ok());
    // A date has whole seconds; the file's time has more.
    let modified = resource.modified.map(httpdate::HttpDate::from);
    since.zip(modified).is_some_and(|(since, modified)| modified <= since.into())
}

fn file(status: StatusCode, resource: Resource) -> Response<Body> {
    let Resource { bytes, media_type, etag, modified } = resource;
    let mut response = respond(status, media_type, Body::from(bytes));
    let validators = [
        (header::ETAG, Some(etag)),
        (header::LAST_MODIFIED, modified.map(httpdate::fmt_http_date)),
    ];
    for (name, value) in validators {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn not_found(site: &Site) -> Response<Body> {
    match tokio::fs::read(site.root.join(NOT_FOUND_PAGE)).await {
        Ok(page) => respond(StatusCode::NOT_FOUND, "text/html", Body::from(page)),
        Err(_) => plain(StatusCode::NOT_FOUND, "no such page\n"),
    }
}

fn redirect(target: &str) -> Response<Body> {
    let mut response = plain(StatusCode::MOVED_PERMANENTLY, &format!("moved to {target}\n"));
    if let Ok(target) = HeaderValue::from_str(target) {
        response.headers_mut().insert(header::LOCATION, target);
    }
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    respond(status, "text/plain", Body::from(text.to_owned()))
}

fn respond(status: StatusCode, media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
