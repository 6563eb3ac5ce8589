//! The other side of the registry's API: what an organisation offers, as a registry would say it.

mod answer;
mod describe;

pub use answer::answer_registry_request;
pub use describe::{OfferTransport, RegistryOffer};
