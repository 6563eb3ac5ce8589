//! Looks for what a text tries on a model or a person: hidden characters, encoded text, orders,
//! secrets, other servers' tools. Text is made plain first; what is found is judged by `rules.json`.

mod alphabets;
mod codes;
mod definition;
mod encoded;
mod finding;
mod hidden;
mod joined;
mod judge;
mod markup;
mod mirrored;
mod numbers;
mod patterns;
mod seams;
mod sets;
mod shadow;
mod tokens;
mod turns;

pub use definition::{Kind, scan_definition};
pub use finding::{Finding, Severity, is_gross, verdict};
pub use judge::scan_text;
pub use mirrored::{is_secret_name, secret_headers};
pub use shadow::{Names as KnownNames, Words, references};
