//! Every example in the repository loads without errors or warnings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::load;
use crate::load::NoConsents;
use crate::places::Places;

#[test]
fn every_example_can_be_read_without_a_complaint() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    assert!(files.len() >= 2, "{files:?}");
    let state = tempfile::tempdir().unwrap();
    for file in files {
        let environment = Environment {
            variables: BTreeMap::new(),
            home: Some(state.path().to_owned()),
            current_dir: state.path().to_owned(),
        };
        let explicit = vec![file.clone()];
        let state = state.path().to_owned();
        let places = Places { explicit, ..Places::without_files(state) };
        let config = load(&places, &environment, &NoConsents);
        assert_eq!((&config.problems[..], config.broken.len()), (&[][..], 0), "{file:?}");
        assert!(config.servers.len() >= 2);
    }
}
