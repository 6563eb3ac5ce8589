//! Step 5, still empty: what a model wrote, to proposed calls.
