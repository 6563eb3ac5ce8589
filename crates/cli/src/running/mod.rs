//! The `switchboard serve` that runs for this home, as commands use it.

pub(crate) mod following;
pub(crate) mod instance;
pub(crate) mod offers;
pub(crate) mod questions;
pub(crate) mod stream;
pub(crate) mod through;
