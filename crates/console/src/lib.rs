//! Face: web pages for people who look, try and approve; still empty.
