//! What goes wrong in a benchmark: a sentence for the one who runs it.

/// Any failure; there is nobody here to tell one kind from another.
pub(crate) type BenchError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type Result<T> = std::result::Result<T, BenchError>;
