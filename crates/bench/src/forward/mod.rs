//! The floor of gateways: forwards bytes and understands nothing but ids.

mod lines;
mod pipe;
mod run;
mod web;

pub(crate) use run::run;
