//! Web archives: the responses in a WARC file (ISO 28500:2017).

use std::io::{BufRead, Read as _};

use crate::fetch::coding::{DecodeLimits, decode};
use crate::fetch::media_type::{SNIFF_BYTES, effective_type};

/// Longest header of a record, in bytes.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Most header fields of a response.
const MAX_FIELDS: usize = 200;

/// A page as an archive holds it.
#[derive(Debug)]
pub(super) struct WarcResponse {
    pub(super) url: String,
    pub(super) status: u16,
    pub(super) media_type: String,
    pub(super) charset: String,
    pub(super) body: Vec<u8>,
    /// Microseconds since 1970 UTC; 0 where the archive does not say.
    pub(super) fetched_at: i64,
}

/// Reads the records of an archive. Records that are no good response (2xx) are `None`; after a
/// broken one nothing more can be read.
pub(super) struct WarcReader {
    reader: Box<dyn BufRead>,
    most_bytes: usize,
    is_over: bool,
}

#[derive(Default)]
struct RecordHeader {
    kind: String,
    url: String,
    date: String,
    length: u64,
}

impl WarcReader {
    pub(super) fn new(reader: Box<dyn BufRead>, most_bytes: usize) -> Self {
        Self { reader, most_bytes, is_over: false }
    }

    /// A line without its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<String>, String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(MAX_HEADER_BYTES as u64);
        let read = limited.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn header(&mut self) -> Result<Option<RecordHeader>, String> {
        let version = loop {
            match self.line()? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                Some(line) => break line,
            }
        };
        if !version.starts_with("WARC/") {
            return Err("it does not begin with a version".to_owned());
        }
        let mut header = RecordHeader::default();
        loop {
            let line = self.line()?.ok_or("it ends inside a header")?;
            if line.is_empty() {
                return Ok(Some(header));
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => value.clone_into(&mut header.kind),
                "warc-target-uri" => value.trim_matches(['<', '>']).clone_into(&mut header.url),
                "warc-date" => value.clone_into(&mut header.date),
                "content-length" => {
                    header.length = value.parse().map_err(|_| "its length is not a number")?;
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, header: &RecordHeader) -> Result<Option<WarcResponse>, String> {
        let is_wanted = header.kind == "response"
            && header.length <= self.most_bytes as u64 + MAX_HEADER_BYTES as u64;
        let mut block = Vec::new();
        let mut content = (&mut self.reader).take(header.length);
        let read = if is_wanted {
            content.read_to_end(&mut block).map(|read| read as u64)
        } else {
            std::io::copy(&mut content, &mut std::io::sink())
        };
        if read.map_err(|error| error.to_string())? < header.length {
            return Err("it ends early".to_owned());
        }
        Ok(if is_wanted { response(header, &block, self.most_bytes) } else { None })
    }
}

impl Iterator for WarcReader {
    type Item = Result<Option<WarcResponse>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let record = self.header().transpose()?.and_then(|header| self.record(&header));
        self.is_over = record.is_err();
        Some(record)
    }
}

/// The response that a record's block holds, where it is a good one.
fn response(record: &RecordHeader, block: &[u8], most_bytes: usize) -> Option<WarcResponse> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = parsed.parse(block) else { return None };
    let status = parsed.code.filter(|status| (200..300).contains(status))?;
    let field = |name: &str| {
        let found = parsed.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| String::from_utf8_lossy(field.value).into_owned())
    };
    let body = block.get(length..).unwrap_or_default().to_vec();
    let body = match field("transfer-encoding") {
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => unchunk(&body).unwrap_or(body),
        _ => body,
    };
    let limits =
        DecodeLimits { max_bytes: most_bytes, max_ratio: 200, ratio_after_bytes: 1024 * 1024 };
    // Archives often hold a body decoded and keep the field that says it is not.
    let body = decode(body.clone(), &field("content-encoding").unwrap_or_default(), &limits)
        .unwrap_or(body);
    let start = body.get(..SNIFF_BYTES.min(body.len())).unwrap_or_default();
    let media = effective_type(field("content-type").as_deref(), start);
    Some(WarcResponse {
        url: record.url.clone(),
        status,
        media_type: media.essence().to_owned(),
        charset: media.charset().unwrap_or_default().to_owned(),
        fetched_at: chrono::DateTime::parse_from_rfc3339(&record.date)
            .map_or(0, |date| date.timestamp_micros()),
        body,
    })
}

/// Takes the chunks of a body apart (RFC 9112 §7.1); `None` where it has none.
fn unchunk(body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    let mut rest = body;
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest).ok()? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return None,
        };
        if size == 0 {
            return Some(whole);
        }
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        whole.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end..)?.strip_prefix(b"\r\n")?;
    }
}
