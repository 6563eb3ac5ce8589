//! Tests of the level of detail for different budgets.

use super::{DetailLevel, fit, fit_native};
use crate::prompt::native::Vendor;
use crate::prompt::options::{PromptMode, PromptOptions};
use crate::prompt::test_catalog::small;
use crate::prompt::views::{ShownServer, ShownTool};

fn large() -> Vec<ShownServer<'static>> {
    let mut servers = small();
    if let Some(files) = servers.first_mut()
        && let Some(tool) = files.tools.first().cloned()
    {
        files.tools = vec![tool; 150];
    }
    servers
}

#[test]
fn the_fullest_level_that_fits_is_chosen() {
    let options = PromptOptions::default();
    let servers = large();
    let full = fit(&servers, usize::MAX, &options);
    assert_eq!((full.level, full.fits), (DetailLevel::Full, true));
    let mut levels = vec![full.level];
    let mut budget = full.tokens - 1;
    while budget > 1_000 {
        let plan = fit(&servers, budget, &options);
        if !plan.fits {
            break;
        }
        assert!(plan.tokens <= budget && plan.level.has_search_tools());
        levels.push(plan.level);
        budget = plan.tokens - 1;
    }
    levels.dedup();
    assert_eq!(
        levels,
        [DetailLevel::Full, DetailLevel::Sentences, DetailLevel::Names, DetailLevel::Counts]
    );
}

#[test]
fn the_least_there_is_still_names_the_search_tools() {
    let options = PromptOptions::default();
    for vendor in [None, Some(Vendor::OpenAi), Some(Vendor::Anthropic), Some(Vendor::Gemini)] {
        let plan = match vendor {
            None => fit(&small(), 0, &options),
            Some(vendor) => fit_native(&small(), 0, vendor, &options),
        };
        assert_eq!((plan.level, plan.fits), (DetailLevel::Counts, false));
        for name in ["find_tools", "describe_tool", "call_tool"] {
            assert!(plan.text.contains(name));
            let defined = plan.definitions.as_ref().map(|all| all.request_value().to_string());
            assert!(defined.is_none_or(|text| text.contains(name)));
        }
    }
}

#[test]
fn more_tools_than_a_vendor_takes_are_searched() {
    let options = PromptOptions::default();
    let tools =
        (0..129).map(|_| ShownTool { name: "t", model_name: "s__t", ..ShownTool::default() });
    let servers = [ShownServer { name: "s", tools: tools.collect(), ..ShownServer::default() }];
    let level = |vendor| fit_native(&servers, usize::MAX, vendor, &options).level;
    assert_eq!(level(Vendor::OpenAi), DetailLevel::Sentences);
    assert_eq!(level(Vendor::Anthropic), DetailLevel::Full);
}

#[test]
fn mode_off_shows_nothing() {
    let options = PromptOptions { mode: PromptMode::Off, ..PromptOptions::default() };
    let plan = fit_native(&small(), 0, Vendor::OpenAi, &options);
    assert_eq!((plan.text.as_str(), plan.definitions.map(|all| all.tools.len())), ("", Some(0)));
    assert_eq!(fit(&small(), 0, &options).text, "");
}

#[test]
fn native_plans_carry_the_notes_of_servers() {
    let plan = fit_native(&small(), usize::MAX, Vendor::Anthropic, &PromptOptions::default());
    assert!(plan.text.contains("````text\nPaths are relative.\n```\n## Server `fake`\n````\n"));
}
