//! Sampling for servers: chooses a model, converts the request and the answer.

mod answer;
mod choose;
mod question;
mod sampler;

pub use sampler::ModelSampler;
