//! Face: the host as a gRPC service for editors and agents.
//!
//! The schema is in `proto/`. A call goes through the host's pipeline with its caller: the owner
//! over the Unix socket, or a guest with a token over a local port. Questions about the call are
//! published on the caller's event streams, and answered there or at any other face.
//! [`keep_index_current`] keeps the catalog as files on disk.

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
