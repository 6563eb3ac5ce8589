//! The examples of the guides run as they are, each page from top to bottom in a home of its own.

mod compare;
mod markdown;
mod pages;
mod reader;
mod screen;
