//! Takes the content codings off a body (RFC 9110 §8.4).
//!
//! In: the bytes from the wire, the `Content-Encoding` field and the limits. Out: the bytes that
//! the server meant, whole.
//!
//! Promises:
//!
//! - Nothing is returned of a body that is cut or broken.
//! - No more than the limit and 8 KiB is ever held of one decoded body, however small the body on
//!   the wire is.
//!
//! Servers err, and some errors are plain: several gzip members and bytes after the last one are
//! read as browsers do; `deflate` without the zlib frame is read; and a body that is labelled gzip
//! or zstd but does not begin like it was never coded.

use std::io::{self, BufRead as _, Read};

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

/// Most codings of one body. One is usual, two is a mistake that is met, more are an attack.
pub const MAX_CODINGS: usize = 5;

/// What the decoders are offered to write at a time, in bytes: limits are checked as often.
const STEP_BYTES: usize = 8 * 1024;

/// The largest window of a zstd body, as a power of two: 8 MiB (RFC 9659 §3).
const ZSTD_WINDOW_LOG: u32 = 23;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How much a body may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Longest decoded body, in bytes.
    pub max_bytes: usize,
    /// Most decoded bytes for each byte on the wire, looked at above `ratio_after_bytes`.
    pub max_ratio: usize,
    /// Decoded bytes up to which the ratio does not matter: short texts may repeat themselves.
    pub ratio_after_bytes: usize,
}

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodingError {
    /// A coding that was not asked for.
    #[error("content coding `{0}` is not known")]
    Unknown(String),
    /// More codings than [`MAX_CODINGS`].
    #[error("the body has {0} content codings, more than {MAX_CODINGS}")]
    TooMany(usize),
    /// The body ends before its coding does.
    #[error("the {0} body is cut off")]
    Truncated(Coding),
    /// The body is not in its coding.
    #[error("the {coding} body is broken")]
    Broken {
        /// The coding.
        coding: Coding,
        /// What the decoder says.
        source: io::Error,
    },
    /// The decoded body is longer than the limit, in bytes.
    #[error("the decoded body is longer than {0} bytes")]
    TooLarge(usize),
    /// The decoded body is longer than the limit, as a multiple of the body on the wire.
    #[error("the decoded body is more than {0} times as long as on the wire")]
    Ratio(usize),
}

impl CodingError {
    fn into_err(self) -> Result<(), Self> {
        Err(self)
    }

    fn unless_too_long(self) -> Result<(), Self> {
        if matches!(self, Self::TooLarge(_)) { Ok(()) } else { Err(self) }
    }
}

/// A content coding that can be taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950 or, against the standard, RFC 1951.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl std::fmt::Display for Coding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
        })
    }
}

/// Takes the codings that `content_encoding` lists off `body`, the last one first.
///
/// # Errors
///
/// Fails where a coding is unknown or there are too many, where the body is cut or broken, and
/// where the result exceeds `limits`.
pub fn decode(
    body: Vec<u8>,
    content_encoding: &str,
    limits: &DecodeLimits,
) -> Result<Vec<u8>, CodingError> {
    let decoded = decode_by(body, content_encoding, limits, CodingError::into_err)?;
    if decoded.len() > limits.max_bytes {
        return Err(CodingError::TooLarge(limits.max_bytes));
    }
    Ok(decoded)
}

/// As [`decode`], for what may be read in part: of a result that is too long, its start.
///
/// # Errors
///
/// Fails as [`decode`], save where the result is too long. A bomb is still refused.
pub fn decode_start(
    body: Vec<u8>,
    content_encoding: &str,
    limits: &DecodeLimits,
) -> Result<Vec<u8>, CodingError> {
    let mut decoded = decode_by(body, content_encoding, limits, CodingError::unless_too_long)?;
    decoded.truncate(limits.max_bytes);
    Ok(decoded)
}

/// Takes all codings off; `judge` says which errors of one end it.
fn decode_by(
    body: Vec<u8>,
    content_encoding: &str,
    limits: &DecodeLimits,
    judge: fn(CodingError) -> Result<(), CodingError>,
) -> Result<Vec<u8>, CodingError> {
    let wire_bytes = body.len();
    let mut decoded = body;
    for coding in codings(content_encoding)?.into_iter().rev() {
        if is_coded(&decoded, coding) {
            let mut output = Output { bytes: Vec::new(), wire_bytes, limits };
            output.fill(&decoded, coding).or_else(judge)?;
            decoded = output.bytes;
        }
    }
    Ok(decoded)
}

/// The codings of a field, in the order in which they were put on.
fn codings(content_encoding: &str) -> Result<Vec<Coding>, CodingError> {
    let mut codings = Vec::new();
    for name in content_encoding.split(',') {
        let name = name.trim().to_ascii_lowercase();
        codings.push(match name.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => return Err(CodingError::Unknown(name)),
        });
    }
    match codings.len() {
        n if n > MAX_CODINGS => Err(CodingError::TooMany(n)),
        _ => Ok(codings),
    }
}

/// Whether `body` may be in `coding`: one that has a magic number must begin with it.
fn is_coded(body: &[u8], coding: Coding) -> bool {
    let begins = |magic: &[u8]| body.starts_with(magic) || magic.starts_with(body);
    !body.is_empty()
        && match coding {
            Coding::Gzip => begins(GZIP_MAGIC),
            // A frame to be skipped may come first (RFC 8878 §3.1.2).
            Coding::Zstd => {
                begins(ZSTD_MAGIC) || matches!(body, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
            }
            Coding::Deflate | Coding::Brotli => true,
        }
}

/// A body on its way out of a coding.
struct Output<'l> {
    bytes: Vec<u8>,
    wire_bytes: usize,
    limits: &'l DecodeLimits,
}

impl Output<'_> {
    fn fill(&mut self, body: &[u8], coding: Coding) -> Result<(), CodingError> {
        match coding {
            Coding::Gzip => self.gunzip(body),
            Coding::Deflate => self.inflate_either(body),
            Coding::Brotli => self.drain(&mut brotli::Decompressor::new(body, STEP_BYTES), coding),
            Coding::Zstd => {
                let broken = |source| CodingError::Broken { coding, source };
                let mut decoder = zstd::Decoder::with_buffer(body).map_err(broken)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(broken)?;
                self.drain(&mut decoder, coding)
            }
        }
    }

    /// Reads members until what follows is none.
    fn gunzip(&mut self, body: &[u8]) -> Result<(), CodingError> {
        let mut rest = body;
        loop {
            let mut member = GzDecoder::new(rest);
            self.drain(&mut member, Coding::Gzip)?;
            rest = member.into_inner();
            if !rest.starts_with(GZIP_MAGIC) {
                return Ok(());
            }
        }
    }

    /// Reads a zlib stream or, where it is none, a bare deflate stream.
    fn inflate_either(&mut self, body: &[u8]) -> Result<(), CodingError> {
        let in_frame = self.inflate(body, Decompress::new(true));
        if !matches!(in_frame, Err(CodingError::Broken { .. } | CodingError::Truncated(_))) {
            return in_frame;
        }
        self.bytes.clear();
        match self.inflate(body, Decompress::new(false)) {
            Err(CodingError::Broken { .. } | CodingError::Truncated(_)) => in_frame,
            bare => bare,
        }
    }

    fn inflate(&mut self, body: &[u8], mut inflater: Decompress) -> Result<(), CodingError> {
        let coding = Coding::Deflate;
        let mut step = [0; STEP_BYTES];
        let mut rest = body;
        loop {
            let (read, written) = (inflater.total_in(), inflater.total_out());
            let status = inflater
                .decompress(rest, &mut step, FlushDecompress::None)
                .map_err(|error| CodingError::Broken { coding, source: error.into() })?;
            let read = usize::try_from(inflater.total_in() - read).unwrap_or(usize::MAX);
            let written = usize::try_from(inflater.total_out() - written).unwrap_or(usize::MAX);
            self.push(step.get(..written).unwrap_or_default())?;
            rest.consume(read);
            match status {
                Status::StreamEnd => return Ok(()),
                _ if read == 0 && written == 0 => return Err(CodingError::Truncated(coding)),
                _ => {}
            }
        }
    }

    fn drain(&mut self, decoder: &mut impl Read, coding: Coding) -> Result<(), CodingError> {
        let mut step = [0; STEP_BYTES];
        loop {
            match decoder.read(&mut step) {
                Ok(0) => return Ok(()),
                Ok(n) => self.push(step.get(..n).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(CodingError::Truncated(coding));
                }
                Err(source) => return Err(CodingError::Broken { coding, source }),
            }
        }
    }

    fn push(&mut self, step: &[u8]) -> Result<(), CodingError> {
        self.bytes.extend_from_slice(step);
        let DecodeLimits { max_bytes, max_ratio, ratio_after_bytes } = *self.limits;
        match self.bytes.len() {
            n if n > max_bytes => Err(CodingError::TooLarge(max_bytes)),
            n if n > ratio_after_bytes && n > self.wire_bytes.saturating_mul(max_ratio) => {
                Err(CodingError::Ratio(max_ratio))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    const LIMITS: DecodeLimits =
        DecodeLimits { max_bytes: 1 << 20, max_ratio: 20, ratio_after_bytes: 1 << 16 };

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(text: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, 5, 20);
        encoder.write_all(text).unwrap();
        drop(encoder);
        coded
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }

    type Encoder = fn(&[u8]) -> Vec<u8>;
    const ENCODERS: [(&str, Encoder); 6] = [
        ("gzip", gzip),
        ("X-GZip", gzip),
        ("deflate", zlib),
        ("deflate", deflate),
        ("br", brotli),
        ("zstd", zstd),
    ];

    #[track_caller]
    fn check(body: Vec<u8>, content_encoding: &str, want: &str) {
        let got = decode(body, content_encoding, &LIMITS).map_or_else(
            |error| format!("error: {error}"),
            |body| String::from_utf8(body).unwrap(),
        );
        assert_eq!(got, want);
    }

    #[test]
    fn codings_come_off_from_the_last_to_the_first() {
        check(b"tea".to_vec(), "", "tea");
        check(b"tea".to_vec(), "identity", "tea");
        check(brotli(&gzip(b"tea")), "gzip, br", "tea");
        check(gzip(&gzip(b"tea")), " gzip ,, identity,gzip", "tea");
    }

    #[test]
    fn plain_errors_of_servers_are_forgiven() {
        check([gzip(b"green "), gzip(b"tea")].concat(), "gzip", "green tea");
        check([gzip(b"tea"), b"\0\0junk".to_vec()].concat(), "gzip", "tea");
        check(b"<p>tea".to_vec(), "gzip", "<p>tea");
        check(b"<p>tea".to_vec(), "zstd", "<p>tea");
        check(Vec::new(), "gzip", "");
    }

    #[test]
    fn what_cannot_be_decoded_is_an_error() {
        check(b"tea".to_vec(), "lzma", "error: content coding `lzma` is not known");
        check(
            b"tea".to_vec(),
            "br,br,br,br,br,br",
            "error: the body has 6 content codings, more than 5",
        );
        check(b"tea".to_vec(), "deflate", "error: the deflate body is broken");
        let mut broken = gzip(b"tea");
        let checksum = broken.len() - 8;
        broken[checksum] ^= 1;
        check(broken, "gzip", "error: the gzip body is broken");
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        for (name, encode) in ENCODERS {
            let bomb = encode(&vec![b'a'; 1 << 24]);
            let error = decode(bomb, name, &LIMITS).unwrap_err();
            assert!(matches!(error, CodingError::Ratio(20)), "{name}: {error}");
        }
        let wide = DecodeLimits { max_ratio: usize::MAX, ..LIMITS };
        let error = decode(gzip(&vec![b'a'; 1 << 24]), "gzip", &wide).unwrap_err();
        assert!(matches!(error, CodingError::TooLarge(1_048_576)), "{error}");
        assert!(decode(vec![b'a'; (1 << 20) + 1], "", &LIMITS).is_err());
    }

    #[test]
    fn the_start_of_a_body_that_is_too_long_is_read() {
        let text: Vec<u8> = (0..1_u32 << 19).flat_map(u32::to_le_bytes).collect();
        for (name, encode) in ENCODERS {
            let start = decode_start(encode(&text), name, &LIMITS).unwrap();
            assert_eq!(start, text[..LIMITS.max_bytes], "{name}");
        }
        assert_eq!(decode_start(text.clone(), "", &LIMITS).unwrap(), text[..LIMITS.max_bytes]);
        assert!(decode_start(b"tea".to_vec(), "deflate", &LIMITS).is_err());
        let bomb = decode_start(gzip(&vec![b'a'; 1 << 24]), "gzip", &LIMITS).unwrap_err();
        assert!(matches!(bomb, CodingError::Ratio(20)), "{bomb}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_coding_gives_back_what_went_in(text in proptest::collection::vec(any::<u8>(), 1..20_000)) {
            for (name, encode) in ENCODERS {
                prop_assert_eq!(&decode(encode(&text), name, &LIMITS).unwrap(), &text, "{}", name);
            }
        }

        #[test]
        fn a_body_cut_anywhere_is_an_error(
            text in proptest::collection::vec(any::<u8>(), 100..1_000), cut in any::<prop::sample::Index>(),
        ) {
            for (name, encode) in ENCODERS {
                let mut body = encode(&text);
                body.truncate(1 + cut.index(body.len() - 1));
                prop_assert!(decode(body, name, &LIMITS).is_err(), "{}", name);
            }
        }

        #[test]
        fn any_bytes_end(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            for (name, _) in ENCODERS {
                drop(decode(body.clone(), name, &LIMITS));
            }
        }
    }
}
