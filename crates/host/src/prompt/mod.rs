//! Step 4, still empty: what a model is shown of a lease.
