//! Checks that the generated code in `crates/grpc/src/generated` matches the schema in `proto/`.
//! `UPDATE_GENERATED=1` regenerates it.
#![expect(clippy::unwrap_used, reason = "a test may panic, its functions too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message as _;

const FILES: [&str; 9] = [
    "switchboard/v1/tools.proto",
    "switchboard/v1/resources.proto",
    "switchboard/v1/controls.proto",
    "switchboard/v1/registry.proto",
    "switchboard/v1/offerings.proto",
    "switchboard/v1/review.proto",
    "switchboard/v1/elicitation.proto",
    "switchboard/v1/host.proto",
    "switchboard/agent/v1/mcp.proto",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn protos() -> PathBuf {
    root().join("proto")
}

/// Returns the expected files of the folder.
fn generated_files() -> BTreeMap<String, Vec<u8>> {
    let mut descriptors = protox::compile(FILES, [protos()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .out_dir(folder.path())
        .compile_fds(descriptors.clone())
        .unwrap();
    // Clients that request the schema by reflection need no comments.
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if !name.starts_with("switchboard.") {
            continue;
        }
        let code = fs::read_to_string(&path).unwrap();
        let text = format!("//! The messages and services of the package `{name}`.\n{code}");
        let place = name.trim_start_matches("switchboard.").replace('.', "/");
        files.insert(format!("{place}.rs"), text.into_bytes());
    }
    files.insert("descriptors.bin".to_owned(), descriptors.encode_to_vec());
    files
}

#[test]
fn the_generated_code_is_that_of_the_schema() {
    let folder = root().join("crates/grpc/src/generated");
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    for (name, wanted) in generated_files() {
        let path = folder.join(&name);
        if update {
            fs::write(&path, wanted).unwrap();
            continue;
        }
        let there = fs::read(&path).unwrap_or_default();
        assert!(there == wanted, "`{name}` is not current: run this test with UPDATE_GENERATED=1");
    }
}

#[test]
fn every_file_of_the_schema_is_compiled() {
    let mut found = Vec::new();
    for folder in ["switchboard/v1", "switchboard/agent/v1"] {
        for entry in fs::read_dir(protos().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            found.push(format!("{folder}/{name}"));
        }
    }
    found.sort_unstable();
    let mut known = FILES.map(str::to_owned);
    known.sort_unstable();
    assert_eq!(found, known);
}
