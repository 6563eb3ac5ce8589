//! One test per page, and the checks of all pages together.

use std::path::Path;

use super::markdown::{Block, blocks};
use super::reader::Reader;

/// Maximum number of console blocks that do not run here, over all pages.
const MAX_NOT_RUN: usize = 15;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(page: &str) -> Vec<Block> {
    blocks(&std::fs::read_to_string(folder().join(page)).unwrap())
}

/// Runs every console block of a page from top to bottom, and fails with everything that differs.
fn check(page: &str) {
    let mut reader = Reader::new();
    let mut failures = Vec::new();
    for block in read(page) {
        if let Some(name) = block.attribute("file") {
            reader.save(name, &block.text);
        }
        if block.language == "console" && block.attribute("no-run").is_none() {
            let commands = block.commands();
            let last = commands.len() - 1;
            for (index, command) in commands.iter().enumerate() {
                let waits = index == last && block.attribute("waits").is_some();
                failures.extend(reader.run(command, waits).err());
            }
        }
    }
    assert!(failures.is_empty(), "{page}: {} failures\n\n{}", failures.len(), failures.join("\n"));
}

/// Pages with their tests, so that a new page cannot be forgotten.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        $(
            #[test]
            fn $name() {
                check($page);
            }
        )*

        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    the_examples_of_the_readme_run: "README.md",
    the_examples_about_the_console_run: "docs/guides/console.md",
    the_examples_about_conversations_run: "docs/guides/conversations.md",
    the_examples_about_dialects_run: "docs/guides/dialects.md",
    the_examples_about_editors_run: "docs/guides/editors.md",
    the_examples_about_the_gateway_run: "docs/guides/gateway.md",
    the_examples_about_hooks_run: "docs/guides/hooks.md",
    the_examples_about_the_library_run: "docs/guides/library.md",
    the_examples_about_models_run: "docs/guides/models.md",
    the_examples_about_pins_run: "docs/guides/pins.md",
    the_examples_about_policy_run: "docs/guides/policy.md",
    the_examples_about_registries_run: "docs/guides/registry.md",
    the_examples_about_sandboxes_run: "docs/guides/sandbox.md",
    the_examples_about_servers_run: "docs/guides/servers.md",
    the_examples_about_reviews_run: "docs/concepts/reviews.md",
    the_examples_about_scripts_run: "docs/reference/scripts.md",
}

/// Every block of the readme, the guides, the concepts and the pages with a test.
pub(super) fn all_pages() -> Vec<(String, Block)> {
    let mut pages: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    for part in ["docs/guides", "docs/concepts"] {
        for entry in std::fs::read_dir(folder().join(part)).unwrap() {
            pages.push(format!("{part}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    pages.sort();
    pages.dedup();
    let blocks = |page: String| read(&page).into_iter().map(move |block| (page.clone(), block));
    pages.into_iter().flat_map(blocks).collect()
}

#[test]
fn every_page_with_examples_has_a_test() {
    let mut found: Vec<String> = all_pages()
        .into_iter()
        .filter(|(_, block)| block.language == "console")
        .map(|(page, _)| page)
        .collect();
    found.dedup();
    let mut tested = PAGES.to_vec();
    tested.sort_unstable();
    assert_eq!(found, tested);
}

#[test]
fn few_examples_do_not_run() {
    let mut not_run = Vec::new();
    for (page, block) in all_pages() {
        let Some(reason) = block.attribute("no-run") else { continue };
        assert!(!reason.is_empty(), "{page}:{} gives no reason", block.line);
        not_run.push(format!("{page}:{} {reason}", block.line));
    }
    assert!(not_run.len() <= MAX_NOT_RUN, "{} do not run: {not_run:#?}", not_run.len());
}
