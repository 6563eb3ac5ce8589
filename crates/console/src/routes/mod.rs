//! Everything that can be asked for: pages, the API, and what each asks of a caller.

mod deciding;
mod finding;
mod happening;
mod offers;
mod pages;
mod route;
mod servers;
mod shape;
mod talking;

pub(crate) use route::{Gives, Proof, Route, all};
pub(crate) use shape::Shape;
