//! The server side of the registry API: publishes an organisation's own servers.

mod answer;
mod describe;

pub use answer::answer_registry_request;
pub use describe::{OfferTransport, RegistryOffer};
