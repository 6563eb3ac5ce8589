//! Google's Gemini.

mod answer;
mod check;
mod contents;
mod fields;
mod refusal;
mod target;

pub(crate) use answer::{events, model, models, whole};
pub(crate) use check::check;
pub(crate) use contents::messages;
pub(crate) use refusal::refusal;
pub(crate) use target::target;
