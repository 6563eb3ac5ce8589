//! What is generated from the schema in `proto/`; `crates/xtask/tests/schema.rs` keeps it current.

pub mod agent;
#[rustfmt::skip]
#[expect(
    unused_qualifications,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::doc_markdown,
    clippy::too_many_lines,
    reason = "it is generated"
)]
pub mod v1;
