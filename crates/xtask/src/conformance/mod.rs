//! The official suite: its client scenarios against our client, its server scenarios through the
//! gateway.

mod gateway;
mod run;
mod suite;
mod summary;

pub(crate) use run::conformance;
