//! The examples of this crate run as documented.

#[path = "../../examples/own_model.rs"]
mod own_model;

#[test]
fn a_model_of_ones_own_uses_the_tools() {
    own_model::main().unwrap();
}
