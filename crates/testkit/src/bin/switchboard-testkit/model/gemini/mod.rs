//! Google's Gemini.

mod answer;
mod check;

pub(crate) use answer::VENDOR;
