//! Conversations, stored step by step in their own database.

#[cfg(test)]
pub(crate) mod crash_tests;
pub(crate) mod error;
pub(crate) mod find;
pub(crate) mod id;
pub(crate) mod rows;
pub(crate) mod store;
#[cfg(test)]
pub(crate) mod trouble_tests;
