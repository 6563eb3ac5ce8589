//! Face: the host as a gRPC service for editors and agents.
//!
//! The schema is in `proto/`. A call takes the host's line like everybody's, under the name of
//! whoever made it: the owner over the Unix socket, a guest with a token over a port of this
//! machine. What waits for a person because of it is told on the visitor's streams of events, and
//! answered there or at any other face. [`index`] keeps the catalog as files on disk.

mod access;
mod answers;
mod calls;
mod clients;
mod concurrency;
mod envelope;
mod events;
mod generated;
mod grpc_service;
mod handlers;
mod hub;
mod index;
mod listen;
mod offerings;
mod outputs;
mod queue_events;
mod resources;
mod results;
mod serve;
mod stream_reviewer;
mod tools;
mod values;

pub use access::GrpcAccess;
pub use generated::{agent, v1};
pub use grpc_service::{GrpcOptions, GrpcService, SuggestedServer};
pub use index::{IndexChanges, host_index_files, keep_index_current, write_index_files};
pub use listen::{BadListenAddress, GrpcListener, ListenAddress, ListenError};
pub use serve::{DESCRIPTORS, serve};
