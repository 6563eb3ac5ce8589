//! Pages of the documentation that are made from the program's own description.

use std::path::Path;

/// Holds a page below `docs/reference` against what it should say; where `UPDATE_REFERENCE` is set,
/// it is written anew before.
pub fn check_reference(page: &str, fresh: &str, package: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let file = folder.join(page);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, fresh).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == fresh,
        "docs/reference/{page} is stale: run `UPDATE_REFERENCE=1 cargo test -p {package} reference`"
    );
}
