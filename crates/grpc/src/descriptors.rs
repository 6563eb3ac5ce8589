//! The schema as data, for clients that ask for it.

/// All files of the schema, as a `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
