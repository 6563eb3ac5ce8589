//! Checks docs/reference/compatibility.md: unique ids, existing files and tests, correct numbers.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, its functions too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One row of the page.
struct Row {
    id: String,
    place: String,
    test: String,
}

impl Row {
    fn is_open(&self) -> bool {
        self.test.starts_with("open: ")
    }
}

#[test]
fn every_row_names_a_file_and_a_test_that_are_there() {
    let tests = tests();
    let mut faults = Vec::new();
    for row in rows() {
        let id = &row.id;
        let there = quoted(&row.place).is_some_and(|place| root().join(place).is_file());
        let nowhere = row.is_open() && row.place == "—";
        if !there && !nowhere {
            faults.push(format!("{id}: there is no file {}", row.place));
        }
        if !row.is_open() && !quoted(&row.test).is_some_and(|test| tests.contains(test)) {
            faults.push(format!("{id}: there is no test {}", row.test));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_id_stands_there_once() {
    let mut seen = BTreeSet::new();
    let rows = rows();
    let doubled: Vec<&str> =
        rows.iter().filter(|row| !seen.insert(&row.id)).map(|row| row.id.as_str()).collect();
    assert_eq!(doubled, Vec::<&str>::new());
}

#[test]
fn the_numbers_at_the_head_are_those_of_the_rows() {
    let page = page();
    let rows = rows();
    for (what, letter) in [("behaviours", 'S'), ("disagreements", 'X')] {
        let of = rows.iter().filter(|row| row.id.starts_with(letter));
        let (open, shown): (Vec<&Row>, Vec<&Row>) = of.partition(|row| row.is_open());
        let all = open.len() + shown.len();
        let shown = shown.len();
        let open = open.len();
        let line = format!("- {all} {what}: {shown} shown by a test, {open} open.");
        assert!(page.lines().any(|found| found == line), "the page lacks the line: {line}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn page() -> String {
    fs::read_to_string(root().join("docs/reference/compatibility.md")).unwrap()
}

fn rows() -> Vec<Row> {
    let page = page();
    let is_row = |line: &&str| line.starts_with("| S") || line.starts_with("| X");
    let rows: Vec<Row> = page.lines().filter(is_row).map(row).collect();
    assert!(!rows.is_empty(), "the page has no rows");
    rows
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [id, behaviour, place, test] = cells.as_slice() else {
        panic!("not four cells: {line}");
    };
    assert!(!id.is_empty() && !behaviour.is_empty(), "an empty cell: {line}");
    Row { id: (*id).to_owned(), place: (*place).to_owned(), test: (*test).to_owned() }
}

/// Returns the content of a cell that is one code span.
fn quoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

/// Returns the names of all test functions of the repository.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                names.extend(tests_in(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    names
}

/// Returns the functions with a test attribute.
fn tests_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        }
        let signature = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(signature) = signature {
            if std::mem::take(&mut is_test) {
                names.extend(signature.split('(').next().map(str::to_owned));
            }
        } else if line.ends_with(['}', ';']) {
            is_test = false;
        }
    }
    names
}
