//! What the terminal shows.

pub(crate) mod address;
pub(crate) mod ask;
pub(crate) mod asker;
pub(crate) mod at_console;
pub(crate) mod callback;
pub(crate) mod counted;
pub(crate) mod editor;
pub(crate) mod elsewhere;
pub(crate) mod first_use;
pub(crate) mod form;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod markdown;
pub(crate) mod menu;
pub(crate) mod menu_person;
pub(crate) mod outside_editor;
pub(crate) mod passed_on;
pub(crate) mod pipes;
pub(crate) mod printer;
pub(crate) mod progress;
#[cfg(unix)]
pub(crate) mod raw;
pub(crate) mod sampling;
pub(crate) mod starting;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod typed;
pub(crate) mod unseen;

#[cfg(test)]
mod at_terminal_tests;
