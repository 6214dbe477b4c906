//! A body from anyone: decoded, and what was coded given back; its type and its charset.
#![no_main]

use std::io::Write as _;

use corpus::fetch::charset::decode_text;
use corpus::fetch::coding::{DecodeLimits, decode};
use corpus::fetch::media_type::effective_type;
use corpus_fuzz::first_line;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use libfuzzer_sys::fuzz_target;

const LIMITS: DecodeLimits =
    DecodeLimits { max_bytes: 1 << 18, max_ratio: 200, ratio_after_bytes: 1 << 16 };

/// Puts a coding on; `which` chooses it.
fn encode(which: usize, body: &[u8]) -> (&'static str, Vec<u8>) {
    match which % 5 {
        0 => {
            let mut coded = GzEncoder::new(Vec::new(), Compression::fast());
            coded.write_all(body).expect("memory");
            ("gzip", coded.finish().expect("memory"))
        }
        1 => {
            let mut coded = ZlibEncoder::new(Vec::new(), Compression::fast());
            coded.write_all(body).expect("memory");
            ("deflate", coded.finish().expect("memory"))
        }
        2 => {
            let mut coded = DeflateEncoder::new(Vec::new(), Compression::fast());
            coded.write_all(body).expect("memory");
            ("deflate", coded.finish().expect("memory"))
        }
        3 => {
            let mut coded = brotli::CompressorWriter::new(Vec::new(), 4096, 1, 16);
            coded.write_all(body).expect("memory");
            ("br", coded.into_inner())
        }
        _ => ("zstd", zstd::encode_all(body, 1).expect("memory")),
    }
}

fuzz_target!(|data: &[u8]| {
    let (field, body) = first_line(data);
    let field = String::from_utf8_lossy(field);
    for coding in [field.as_ref(), "gzip", "deflate", "br", "zstd"] {
        if let Ok(decoded) = decode(body.to_vec(), coding, &LIMITS) {
            assert!(decoded.len() <= LIMITS.max_bytes);
            let most = LIMITS.ratio_after_bytes.max(body.len().saturating_mul(LIMITS.max_ratio));
            assert!(decoded.len() <= most, "the ratio is more than the limit");
        }
    }
    if !body.is_empty() && body.len() < LIMITS.ratio_after_bytes {
        let (coding, mut coded) = encode(data.len(), body);
        assert_eq!(decode(coded.clone(), coding, &LIMITS).expect("a sound body"), body, "{coding}");
        coded.truncate(1 + body.len() % (coded.len() - 1).max(1));
        let cut = decode(coded.clone(), coding, &LIMITS);
        // What is left of a body without a mark of its own may be sound by chance, but not equal.
        assert!(cut.is_err() || cut.is_ok_and(|cut| cut != body), "{coding} {coded:?}");
    }
    drop(effective_type(Some(field.as_ref()), body));
    let media = effective_type(None, body);
    assert_eq!(effective_type(Some(media.essence()), body).is_html(), media.is_html());
    let text = decode_text(body, Some(field.as_ref()), Some("jp"));
    drop(text);
    let text = decode_text(body, None, None);
    assert!(body.is_empty() || text.text.len() <= 3 * body.len() + 3, "text grew");
});
