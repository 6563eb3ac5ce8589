//! `console`: pages and lists over a record of a million calls, and a browser while much happens.

mod record;
mod section;
mod served_console;

pub(crate) use section::{ConsolePlan, section};
