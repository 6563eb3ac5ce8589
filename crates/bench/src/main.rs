//! Measures Switchboard beside its peers; still empty.

fn main() {}
