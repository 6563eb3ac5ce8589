//! Tests search results and their ranking.

use proptest::prelude::*;

use super::*;

fn tool<'a>(server: &'a str, name: &'a str, description: &'a str) -> SearchDocument<'a> {
    SearchDocument { server, name, description: Some(description), ..SearchDocument::default() }
}

fn sample() -> SearchIndex {
    let path = [SearchParameter { name: "path", description: Some("Where the document lies") }];
    SearchIndex::build([
        SearchDocument { parameters: &path, ..tool("files", "read_text", "Read a text file") },
        tool("files", "write_text", "Write a text file"),
        tool("weather", "getForecast", "Daily forecasts for a city"),
        tool("github", "create_issue", "Open a new issue in a GitHub repository"),
        tool("github", "search", "Search code and issues"),
        tool("web", "search", "Search the web with an engine of your choice"),
        SearchDocument { title: Some("Currency converter"), ..tool("money", "fx", "Rates") },
        tool("bing", "bing_search", "使用必应搜索指定的关键词"),
    ])
}

fn hit_documents(query: &str) -> Vec<usize> {
    sample().search(query, 3).into_iter().map(|hit| hit.document).collect()
}

#[test]
fn the_best_tool_comes_first() {
    let cases: [(&str, usize); 14] = [
        ("read a file", 0),
        ("document path", 0),
        ("writing files", 1),
        ("creating issues?", 3),
        ("what will the forecast be in this city?", 2),
        ("open an issue on github", 3),
        ("getforecast", 2),
        ("get_forecast", 2),
        ("github search", 4),
        ("web__search", 5),
        ("currency", 6),
        ("conver", 6),
        ("repos", 3),
        ("必应搜索", 7),
    ];
    for (query, expected) in cases {
        assert_eq!(hit_documents(query).first(), Some(&expected), "{query}");
    }
}

#[test]
fn tools_with_exactly_the_wanted_name_come_before_better_described_ones() {
    assert_eq!(hit_documents("search"), [4, 5, 7]);
    let titled =
        SearchDocument { title: Some("Search search"), ..tool("b", "search_web", "Search") };
    let plain = tool("a", "search", "Looks through every page that was ever written down");
    let hits = SearchIndex::build([titled, plain]).search("Search", 2);
    assert_eq!(hits.iter().map(|hit| hit.document).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_last_word_that_something_follows_is_not_taken_as_unfinished() {
    assert_eq!(hit_documents("conver?"), Vec::<usize>::new());
}

#[test]
fn nothing_in_common_finds_nothing() {
    for query in ["", "   ", "?!", "zebra", "the"] {
        assert_eq!(hit_documents(query), Vec::<usize>::new(), "{query:?}");
    }
    assert_eq!(SearchIndex::build([]).search("file", 3), []);
    assert_eq!(sample().search("file", 0), []);
}

#[test]
fn scores_fall_and_the_limit_holds() {
    let hits = sample().search("search text files in github", 4);
    assert_eq!(hits.len(), 4);
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

proptest! {
    #[test]
    fn any_text_can_be_indexed_and_asked_for(
        texts in proptest::collection::vec(("\\PC{0,12}", "\\PC{0,40}"), 0..12),
        query in "\\PC{0,30}",
    ) {
        let documents = || texts.iter().map(|(name, text)| tool("server", name, text));
        let index = SearchIndex::build(documents());
        let hits = index.search(&query, 5);
        prop_assert!(hits.len() <= 5);
        prop_assert!(hits.iter().all(|hit| hit.document < texts.len() && hit.score.is_finite()));
        prop_assert_eq!(&hits, &SearchIndex::build(documents()).search(&query, 5));
    }

    #[test]
    fn the_name_of_a_tool_finds_it_first(
        names in proptest::collection::hash_set("[a-z]{3,8}(_[a-z]{3,8}){0,2}", 1..12),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let index = SearchIndex::build(names.iter().map(|name| tool("server", name, "does things")));
        for (position, name) in names.iter().enumerate() {
            // Names that differ only in separators tie for the first rank.
            let letters = name.replace('_', "");
            let first = index.search(name, 1)[0].document;
            prop_assert!(first == position || names[first].replace('_', "") == letters);
        }
    }
}
