//! Face: the conversation between a model, a person and the tools; still empty.
