//! The examples of this crate do what they say.

#[path = "../../examples/own_model.rs"]
mod own_model;

#[test]
fn a_model_of_ones_own_uses_the_tools() {
    own_model::main().unwrap();
}
