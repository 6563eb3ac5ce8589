//! `console`: pages and lists over a record of a million calls, and a browser while much happens.

mod flood;
mod record;
mod section;
mod served;

pub(crate) use section::{Plan, section};
