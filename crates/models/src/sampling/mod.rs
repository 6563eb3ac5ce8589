//! Models for servers that ask: chooses one, puts the question into our form and the answer back.

mod answer;
mod choose;
mod question;
mod sampler;

pub use sampler::ModelSampler;
