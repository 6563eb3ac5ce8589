//! Errors of the benchmarks: sentences for the person who runs them.

/// Any failure; no code here distinguishes kinds of errors.
pub(crate) type BenchError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type Result<T> = std::result::Result<T, BenchError>;
