//! Modules that `switchboard generate rust` wrote; `generate.rs` holds them against what it writes.

#[rustfmt::skip]
#[expect(dead_code, unreachable_pub, reason = "the module is made for crates of others")]
pub(crate) mod echo;
#[rustfmt::skip]
#[expect(
    dead_code,
    unreachable_pub,
    clippy::doc_markdown,
    clippy::use_self,
    reason = "the module is made for crates of others, and its comments are the server's words"
)]
pub(crate) mod shop;
