//! The examples of the guides run as they are, each page from top to bottom in a home of its own.
//!
//! The fence of a block may have attributes: `no-run` gives the reason why a block does not run here,
//! `file` the name under which the reader saves it, and `waits` says that its last command stays
//! open in another terminal. In the output, `…` is any text, or any lines if it is alone on a line.
//! `^C` on the last line interrupts the command.

mod compare;
mod config;
mod markdown;
mod pages;
mod reader;
mod screen;
