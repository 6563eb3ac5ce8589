//! Conditions in CEL, checked when a rule file is loaded.

pub(crate) mod condition_calls;
pub(crate) mod condition_check;
pub(crate) mod condition_shapes;
