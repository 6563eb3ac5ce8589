//! What stored calls and conversations survive.

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// The death of this process.
    #[default]
    Process,
    /// The loss of power: every group of calls is forced to the disk.
    Power,
}
