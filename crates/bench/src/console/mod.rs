//! `console`: pages and lists over a record of a million calls, and a browser under load.

mod record;
mod section;
mod served_console;

pub(crate) use section::{ConsolePlan, section};
