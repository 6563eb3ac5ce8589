//! Text processing before display, comparison and storage.
//!
//! The crate takes strings from servers, models and people. It returns escaped, truncated or
//! redacted ones, similar names, matches of wildcard patterns, and digests. It is pure, except that
//! [`redact`] keeps one list per process of the secrets to redact, and never does I/O.

mod characters;
mod digest;
mod escape;
mod excerpt;
mod glob;
mod near_names;
mod percent;
mod redact;
mod secret_shapes;
mod truncate;
mod words;

pub use characters::{
    fold_char, is_ambiguous, is_hidden, is_mixed_script, is_noncanonical, is_variation_selector,
    mixed_script_reading, tag_letter,
};
pub use digest::{Digest, hex_digest};
pub use escape::{
    encode_json_controls, escape, escape_json, escape_line, escape_prose, escape_prose_line,
    unescape, unescape_line,
};
pub use excerpt::{
    MAX_VALUE_CHARS, excerpt_text, excerpt_value, is_visible, sanitize, sanitize_whole,
};
pub use glob::{
    BadPattern, Glob, GlobForm, GlobToken, SingleChoice, escape_wildcards, parse_forms,
};
pub use near_names::{differs_in_separators, is_near, near_keys, nearest_names, suggestion};
pub use percent::{RESERVED, encode_component};
pub use redact::{LineRedactor, REDACTED, add_secrets, is_secret, redact_bytes, redact_text};
pub use secret_shapes::{contains_secret, is_secret_name, secret_values};
pub use truncate::truncate_middle;
pub use words::{for_each_part, for_each_word, is_stop_word, stem};
