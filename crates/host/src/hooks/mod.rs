//! Step 7, still empty: the user's own programs, before and after a call.
