//! From one package or remote of `server.json` to the exact command or address.
//!
//! Reading order: `package` and `remote` make a `Plan`, whose texts are templates and whose
//! questions are inputs; `fill` makes a `Recipe` of it with what a person answered. `pinned` and
//! `runner` say which packages are run and by what.

mod arguments;
mod choice;
mod error;
mod fill;
mod input;
mod package;
mod pinned;
mod plan_type;
mod remote;
mod runner;
mod template;

pub use choice::{Choice, choices};
pub use error::PlanError;
pub use fill::{Answers, Recipe, Text};
pub use input::{Asked, Format};
pub use plan_type::{Body, Item, Plan};
pub use template::Template;

pub(crate) use plan_type::{check_text, check_variable};
