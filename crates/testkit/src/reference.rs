//! Reference pages that are generated from the program's own description.

use std::path::Path;

/// Compares a page below `docs/reference` with its expected text. If `UPDATE_REFERENCE` is set, the
/// page is written first.
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
