//! `switchboard review`: what waits for a person, listed, shown, and put to whoever sits here.

mod answer;
mod command;

pub(crate) use command::{ReviewArgs, ReviewWaitArgs, run};
