//! The package of messages for agents.

#[rustfmt::skip]
#[expect(clippy::large_enum_variant, reason = "it is generated")]
pub mod v1;
