//! Anthropic's messages.

mod answer;
mod check;

pub(crate) use answer::VENDOR;
