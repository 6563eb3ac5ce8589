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

#[test]
fn every_page_with_examples_has_a_test() {
    let mut found = vec!["README.md".to_owned(), "docs/reference/scripts.md".to_owned()];
    for part in ["docs/guides", "docs/concepts"] {
        for entry in std::fs::read_dir(folder().join(part)).unwrap() {
            found.push(format!("{part}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    found.retain(|page| read(page).iter().any(|block| block.language == "console"));
    found.sort();
    let mut tested = PAGES.to_vec();
    tested.sort_unstable();
    assert_eq!(found, tested);
}

#[test]
fn few_examples_do_not_run() {
    let blocks =
        PAGES.iter().flat_map(|page| read(page).into_iter().map(move |block| (page, block)));
    let not_run: Vec<String> = blocks
        .filter_map(|(page, block)| {
            let reason = block.attribute("no-run")?;
            assert!(!reason.is_empty(), "{page}:{} gives no reason", block.line);
            Some(format!("{page}:{} {reason}", block.line))
        })
        .collect();
    assert!(not_run.len() <= MAX_NOT_RUN, "{} do not run: {not_run:#?}", not_run.len());
}
