//! The scanner: finds instructions, secrets and look-alikes in the texts of servers.
//!
//! Takes definitions and texts, and returns [`ScanFinding`]s with a severity and an excerpt. Pure:
//! no I/O and no clock. The trust crate, not the scanner, decides what happens to a definition.

mod alphabets;
mod definition;
mod encoded;
mod escapes;
mod finding;
mod hidden;
mod judge;
mod markup;
mod numbers;
mod patterns;
mod shadow;
mod tokens;
mod transforms;
mod unspaced;
mod word_sets;

pub use definition::{DefinitionKind, scan_definition, secret_headers};
pub use finding::{ScanFinding, Severity, is_clear_attack, overall_severity};
pub use judge::{provenance, scan_text};
pub use shadow::{DefinitionWords, KnownNames, find_shadowing};
