//! `switchboard review`: lists, shows and answers the entries of the review queue.

mod answer;
mod command;

pub(crate) use command::{ReviewArgs, ReviewWaitArgs, run};
