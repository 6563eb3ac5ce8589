//! Conversations, kept step by step in a database of their own.

#[cfg(test)]
pub(crate) mod crash_tests;
pub(crate) mod error;
pub(crate) mod find;
pub(crate) mod id;
pub(crate) mod rows;
pub(crate) mod store;
#[cfg(test)]
pub(crate) mod trouble_tests;
