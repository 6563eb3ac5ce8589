//! Conversations at the terminal: `chat`, `run` and `demo` over one engine.
//!
//! In go the options of a conversation ([`TalkOptions`], [`Task`]), the terminal and the files of
//! the user ([`ChatContext`]), and the program around it ([`Program`]), which starts hosts and lists
//! servers and tools. Out come the words of the model on standard output, everything else on
//! standard error, and an exit code.
//!
//! `switchboard-agent` drives the conversation; this crate shows its events, reads what the person
//! types and presents questions to them. It never calls a tool for the model, never decides about a
//! call, and never parses the command line.

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
