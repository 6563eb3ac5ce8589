//! Everything that two products can both express survives the conversion from one to the other and
//! back, and every loss has a note.
#![expect(
    clippy::unwrap_used,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::json;
use switchboard_dialects::{
    EntryHttpKind, EntryTransport, FileSection, KnownFolder, OauthClientEntry, OauthFields,
    ProductDialect, ProductExtras, ServerEntry, ToolRules, VariablePiece, VariableText,
};

fn literal() -> impl Strategy<Value = VariablePiece> {
    "[a-zA-Z0-9 /:._${}%#'\"\\\\é-]{1,10}".prop_map(VariablePiece::Literal)
}

fn piece() -> impl Strategy<Value = VariablePiece> {
    let variable = ("[A-Z_]{1,6}", option::weighted(0.2, "[a-z/]{0,4}"));
    let folder = prop_oneof![
        Just(KnownFolder::Home),
        Just(KnownFolder::Workspace),
        Just(KnownFolder::WorkspaceName),
        Just(KnownFolder::Separator)
    ];
    prop_oneof![
        4 => literal(),
        2 => variable.prop_map(|(name, default)| VariablePiece::Variable { name, default }),
        1 => "[A-Z_]{1,6}".prop_map(VariablePiece::Secret),
        1 => folder.prop_map(VariablePiece::Folder),
    ]
}

fn text() -> impl Strategy<Value = VariableText> {
    prop_oneof![
        3 => "[a-z0-9/._-]{0,12}".prop_map(VariableText::literal),
        2 => vec(piece(), 1..3).prop_map(VariableText::from_pieces),
    ]
}

/// Returns a strategy for non-empty texts.
fn full_text() -> impl Strategy<Value = VariableText> {
    ("[a-z/.]{1,8}", text()).prop_map(|(start, text)| {
        VariableText::from_pieces(
            [VariablePiece::Literal(start)].into_iter().chain(text.pieces().to_vec()),
        )
    })
}

/// Returns a strategy for named values, some of them passed on under their own name.
fn named_texts() -> impl Strategy<Value = BTreeMap<String, VariableText>> {
    let one = ("[A-Z_]{1,6}", 0..4, text());
    vec(one, 0..4).prop_map(|all| {
        let named = all.into_iter().map(|(name, how, text)| match how {
            0 => (name.clone(), VariableText::variable(name)),
            1 => (name.clone(), VariableText::secret(name)),
            _ => (name, text),
        });
        named.collect()
    })
}

fn headers() -> impl Strategy<Value = BTreeMap<String, VariableText>> {
    let bearer = option::of("[A-Z_]{1,6}");
    (named_texts(), bearer).prop_map(|(mut headers, bearer)| {
        if let Some(name) = bearer {
            let variable = VariablePiece::Variable { name, default: None };
            let text =
                VariableText::from_pieces([VariablePiece::Literal("Bearer ".to_owned()), variable]);
            headers.insert("Authorization".to_owned(), text);
        }
        headers
    })
}

fn reach() -> impl Strategy<Value = EntryTransport> {
    let program = (
        full_text(),
        vec(text(), 0..4),
        named_texts(),
        option::weighted(0.2, full_text()),
        option::weighted(0.3, full_text()),
    );
    let kind = prop_oneof![
        Just(EntryHttpKind::Auto),
        Just(EntryHttpKind::Streamable),
        Just(EntryHttpKind::Sse)
    ];
    prop_oneof![
        program.prop_map(|(command, args, env, env_file, cwd)| {
            EntryTransport::Stdio { command, args, env, env_file, cwd }
        }),
        (kind, full_text(), headers()).prop_map(|(kind, url, headers)| EntryTransport::Http {
            kind,
            url,
            headers
        }),
    ]
}

fn tools() -> impl Strategy<Value = ToolRules> {
    let some = || btree_set("[a-z_]{1,6}", 0..3);
    (some(), any::<bool>(), some(), some()).prop_map(|(approved, approve_all, allowed, denied)| {
        ToolRules { approved, approve_all, allowed, denied }
    })
}

fn oauth() -> impl Strategy<Value = OauthFields> {
    let client = (full_text(), option::of(full_text()));
    let client = client.prop_map(|(id, secret)| OauthClientEntry { id, secret });
    let scopes = btree_set("[a-z:]{1,6}", 0..3)
        .prop_map(|set: BTreeSet<String>| set.into_iter().collect::<Vec<String>>());
    (option::of(client), scopes, option::of(1..u16::MAX))
        .prop_map(|(client, scopes, callback_port)| OauthFields { client, scopes, callback_port })
}

fn extra() -> impl Strategy<Value = ProductExtras> {
    let product =
        prop::sample::select(&ProductDialect::ALL).prop_map(|dialect| dialect.id().to_owned());
    let said = prop_oneof![Just(json!(true)), Just(json!({"a": ["b", 1]})), Just(json!("words"))];
    let keys = said.prop_map(|said| [("xSaid".to_owned(), said)].into_iter().collect());
    btree_map(product, keys, 0..2)
}

fn entry() -> impl Strategy<Value = ServerEntry> {
    let name = prop_oneof![3 => "[a-z][a-z0-9-]{0,8}", 1 => "[A-Za-z0-9_./é -]{1,10}"];
    let time = || option::of(prop_oneof![1_u64..100_000, (1_u64..4_000).prop_map(|s| s * 1_000)]);
    let bare = |weight: f64| prop::bool::weighted(weight);
    (
        name,
        reach(),
        (time(), time()),
        bare(0.2),
        (tools(), bare(0.5)),
        (oauth(), extra(), bare(0.5)),
    )
        .prop_map(
            |(name, reach, times, disabled, (tools, has_tools), (oauth, extra, has_more))| {
                ServerEntry {
                    name,
                    reach,
                    timeout_ms: times.0,
                    startup_timeout_ms: times.1,
                    disabled,
                    tools: if has_tools { tools } else { ToolRules::default() },
                    oauth: if has_more { oauth } else { OauthFields::default() },
                    extra: if has_more { extra } else { ProductExtras::new() },
                }
            },
        )
}

/// Writes the entry to a file of the product and reads it back.
fn through(dialect: ProductDialect, entry: &ServerEntry) -> Option<ServerEntry> {
    let written = dialect.write("", &FileSection::Top, std::slice::from_ref(entry)).unwrap();
    let read = dialect.read(&written.text, &FileSection::Top).unwrap();
    assert!(read.entries.len() <= 1, "{}", written.text);
    read.entries.into_iter().next()
}

/// Converts the entry to our own form and back.
fn through_ours(entry: &ServerEntry) -> ServerEntry {
    let (name, value, _) = entry.to_ours();
    ServerEntry::from_ours(&name, &value).unwrap().0
}

/// Returns the part that all of them can express. `None` if there is none: plain text for one
/// product may be a variable for another.
fn common_part(dialects: [ProductDialect; 2], entry: &ServerEntry) -> Option<ServerEntry> {
    let mut entry = entry.clone();
    for _ in 0..6 {
        let mut is_settled = true;
        for dialect in dialects {
            let expressed = dialect.expressible(&entry).0?;
            is_settled &= expressed == entry;
            entry = expressed;
        }
        let ours = through_ours(&entry);
        is_settled &= ours == entry;
        entry = ours;
        if is_settled {
            return Some(entry);
        }
    }
    None
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_file_says_what_can_be_expressed_and_every_difference_is_noted(entry in entry()) {
        for dialect in ProductDialect::ALL {
            let (expressed, notes) = dialect.expressible(&entry);
            prop_assert_eq!(&through(dialect, &entry), &expressed, "{:?}", dialect);
            let is_same = expressed.as_ref() == Some(&entry);
            prop_assert_eq!(notes.is_empty(), is_same, "{:?} {:?}", dialect, notes);
        }
    }

    #[test]
    fn our_own_entry_says_everything_but_what_is_noted(entry in entry()) {
        let (_, _, notes) = entry.to_ours();
        let through = through_ours(&entry);
        prop_assert!(through == entry || !notes.is_empty());
        prop_assert_eq!(through_ours(&through), through);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "[\\x00-\\x7fé]{0,60}") {
        for dialect in ProductDialect::ALL {
            dialect.read(&text, &FileSection::Top).ok();
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn what_two_products_share_survives_the_way_there_and_back(entry in entry()) {
        let mut tried = 0;
        for one in ProductDialect::ALL {
            for other in ProductDialect::ALL {
                let Some(shared) = common_part([one, other], &entry) else { continue };
                let mut current = shared.clone();
                tried += 1;
                for dialect in [one, other, one] {
                    current = through(dialect, &current).unwrap();
                    current = through_ours(&current);
                }
                prop_assert_eq!(&current, &shared, "{:?} {:?}", one, other);
            }
        }
        prop_assert!(tried > 0);
    }

    #[test]
    fn a_server_that_is_replaced_says_nothing_of_what_it_was(
        before in entry(), after in entry(),
    ) {
        for dialect in ProductDialect::ALL {
            let before = ServerEntry { extra: ProductExtras::new(), ..before.clone() };
            let name = before.name.clone();
            let after = ServerEntry { name, extra: ProductExtras::new(), ..after.clone() };
            let there = dialect.write("", &FileSection::Top, &[before]).unwrap().text;
            let written = dialect.write(&there, &FileSection::Top, std::slice::from_ref(&after)).unwrap();
            let Some(expressed) = dialect.expressible(&after).0 else { continue };
            let read = dialect.read(&written.text, &FileSection::Top).unwrap().entries;
            prop_assert_eq!(read, vec![expressed], "{:?}\n{}\n{}", dialect, there, written.text);
        }
    }

    #[test]
    fn writing_keeps_every_line_that_was_there(entries in vec(entry(), 1..3)) {
        for dialect in ProductDialect::ALL {
            let ending = match dialect {
                ProductDialect::Codex => "toml",
                ProductDialect::Goose => "yaml",
                _ => "json",
            };
            let place = format!("{}/tests/golden/{}", env!("CARGO_MANIFEST_DIR"), dialect.id());
            let before = std::fs::read_to_string(format!("{place}/before.{ending}")).unwrap();
            let mut new = entries.clone();
            for entry in &mut new {
                entry.name = format!("new-{}", entry.name);
            }
            let after = dialect.write(&before, &FileSection::Top, &new).unwrap().text;
            let mut lines = after.lines();
            for line in before.lines() {
                let bare = |line: &str| line.trim_end().trim_end_matches(',').to_owned();
                let kept = lines.any(|other| bare(other) == bare(line));
                // A list next to the servers may have grown.
                let is_beside = line.contains("\"excluded\"");
                prop_assert!(kept || is_beside, "{:?} lost `{}` in\n{}", dialect, line, after);
                if !kept {
                    lines = after.lines();
                }
            }
        }
    }
}
