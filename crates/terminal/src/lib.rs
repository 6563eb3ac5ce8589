//! Terminal input and output: everything printed for a person, and every answer a person gives.
//!
//! Input: results, warnings, questions about calls ([`CallQuestion`]), questions of servers
//! ([`present_ask`]) and Markdown from a model ([`Markdown`]). Output: text on standard output,
//! messages on standard error ([`Printer`]), answers, typed lines ([`PromptEditor`],
//! [`TypedLines`]), Ctrl-C as events ([`Interrupts`]) and exit codes ([`exit_code`]).
//!
//! A future that presents a question owns it: dropping the future withdraws the question. A
//! [`ChatReviewer`] forwards the questions of a host to the one task that owns the terminal;
//! [`People`] selects who answers them.
//!
//! The crate never starts a host, decides about a call or parses the command line, and it prints
//! texts of servers only in escaped form.

mod address;
mod arguments;
mod ask;
mod asker;
mod callback;
mod desk;
mod editor;
mod elsewhere;
mod error;
pub mod exit_code;
mod first_use;
mod form;
mod history;
mod interrupt;
mod keys;
mod markdown;
mod menu;
mod menu_person;
mod outside_editor;
mod people;
mod pipes;
mod printer;
mod progress;
#[cfg(unix)]
mod raw;
mod sampling;
mod table;
mod tty;
mod typed;

#[cfg(test)]
mod at_terminal_tests;

pub use address::open_address;
pub use arguments::{arguments_from_json, arguments_from_words, text_arguments};
pub use ask::{
    CallQuestion, CallResponse, HeldQuestion, QuestionOutcome, TerminalReviewer, ask_line,
    leave_open, leave_to_others, present, question_title, reason_with_all, reason_with_risk,
};
pub use asker::{
    DecliningAsker, EXPIRED_LINE, TerminalAsker, answered_elsewhere, present_ask, tell_completed,
    tell_declined, tell_turned_down,
};
pub use callback::{CallbackListener, CallbackPage, CallbackVisit};
pub use desk::{ChatReviewer, DeskItem};
pub use editor::{CompleteArgs, EditorError, EditorLine, PromptEditor};
pub use elsewhere::{ElsewhereReviewer, waiting_line};
pub use error::CliError;
pub use first_use::{NewServerAnswer, finding_line, present_new_server};
pub use form::is_yes;
pub use interrupt::{Interrupts, Presses};
pub use markdown::{Markdown, Paint};
pub use people::{People, ReviewWait};
pub use pipes::{standard_input, standard_output};
pub use printer::{Printer, pluralize, talk};
pub use progress::{StartSpinners, progress_text, show_progress, spinner};
pub use sampling::sampling_from_details;
pub use tty::{ask_secret_line, has_person, is_terminal_gone, remember_mode, restore_mode};
pub use typed::TypedLines;
