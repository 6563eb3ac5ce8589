//! Sizes of the code, the dependency tree and the product.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::Result;
use crate::workspace::{Workspace, output, run, with_path};

const PRODUCT: &str = "switchboard";

/// Prints the sizes, including those that need a clean release build.
pub(crate) fn with_build(workspace: &Workspace) -> Result<()> {
    sizes(workspace)?;
    measure_build(workspace)
}

/// Prints the sizes that need no build.
pub(crate) fn sizes(workspace: &Workspace) -> Result<()> {
    println!("lines of code, without tests, comments and blank lines");
    let mut total = 0;
    for name in folders(&workspace.root.join("crates"))? {
        let crate_root = workspace.root.join("crates").join(&name);
        let lines = lines_below(&crate_root)?;
        total += lines;
        println!("{lines:>7}  {name}");
        if name == "host" {
            for step in folders(&crate_root.join("src"))? {
                println!("{:>7}    host/{step}", lines_below(&crate_root.join("src").join(&step))?);
            }
        }
    }
    println!("{total:>7}  total");

    let lock_path = workspace.root.join("Cargo.lock");
    let lock = with_path("read", &lock_path, fs::read_to_string(&lock_path))?;
    let locked = lock.lines().filter(|line| *line == "[[package]]").count();
    let tree = output(
        workspace
            .cargo()
            .args(["tree", "--package", PRODUCT, "--edges", "normal"])
            .args(["--prefix", "none"]),
    )?;
    println!("crates: {locked} in Cargo.lock, {} in the product", distinct(&tree));
    Ok(())
}

/// Counts the different crates; cargo marks repeated ones with `(*)`.
fn distinct(tree: &str) -> usize {
    let mut names: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn measure_build(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("sizes");
    let clear = || {
        if folder.exists() {
            with_path("remove", &folder, fs::remove_dir_all(&folder))
        } else {
            Ok(())
        }
    };
    clear()?;
    let started = Instant::now();
    run(workspace
        .cargo()
        .args(["build", "--release", "--package", PRODUCT])
        .arg("--target-dir")
        .arg(&folder))?;
    let seconds = started.elapsed().as_secs_f64();
    let program = folder.join("release").join(PRODUCT);
    let bytes = with_path("read", &program, fs::metadata(&program))?.len();
    println!("clean release build: {seconds:.1} s; binary: {bytes} bytes");
    clear()
}

/// Returns the names of the folders directly inside a folder, sorted.
fn folders(parent: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = entries(parent)?
        .iter()
        .filter(|path| path.is_dir())
        .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
        .collect();
    names.sort_unstable();
    Ok(names)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    with_path(
        "list",
        folder,
        fs::read_dir(folder).and_then(|all| all.map(|one| Ok(one?.path())).collect()),
    )
}

fn lines_below(folder: &Path) -> Result<usize> {
    let mut lines = 0;
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !matches!(name.as_ref(), "tests" | "target") {
            lines += lines_below(&path)?;
        } else if name.ends_with(".rs") && !name.ends_with("_tests.rs") {
            lines += code_lines(&with_path("read", &path, fs::read_to_string(&path))?);
        }
    }
    Ok(lines)
}

fn code_lines(source: &str) -> usize {
    source
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[cfg(test)]
mod tests {
    use super::{code_lines, distinct};

    #[test]
    fn comments_blank_lines_and_tests_are_not_code() {
        let source =
            "//! What it does.\n\nfn one() {\n    // Why.\n}\n\n#[cfg(test)]\nmod tests {}\n";

        assert_eq!(code_lines(source), 2);
    }

    #[test]
    fn a_crate_that_is_shown_twice_counts_once() {
        assert_eq!(distinct("a v1.0.0\nb v2.0.0\na v1.0.0 (*)\na v1.1.0\n"), 3);
    }
}
