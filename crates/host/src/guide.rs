//! The guide for programs that embed the host: its code is compiled with the doc tests.

#[doc = include_str!("../../../docs/guides/library.md")]
struct Library;
