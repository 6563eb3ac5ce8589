//! Conversations at the terminal: `chat`, `run` and `demo` over one engine.
//!
//! Takes the options of a conversation ([`TalkOptions`], [`Task`]), the terminal and the files of
//! the user ([`ChatContext`]), and the surrounding program ([`Program`]), which starts hosts and
//! lists servers and tools. Writes the text of the model to standard output and everything else to
//! standard error, and returns an exit code.
//!
//! `switchboard-agent` drives the conversation; this crate shows its events, reads the user's input
//! and presents questions. It never calls a tool for the model, never decides about a call, and
//! never parses the command line.

mod ahead;
mod attach;
mod demo;
mod interactive;
mod once;
mod open;
mod program;
mod questions;
mod show;
mod slash;
mod suggest;

pub use demo::demo;
pub use interactive::chat;
pub use once::{Task, run_task};
pub use open::{TalkOptions, model_error, open_error, open_sessions, profile_for, trouble_code};
pub use program::{ChatContext, Program, ProgramFuture, StartOptions};
