//! Reviews with scripted answers.

use super::*;

/// Answers from a list, and collects the output.
struct ScriptedPerson {
    picks: Vec<Option<MenuEntry>>,
    lines: Vec<Option<&'static str>>,
    edits: Vec<Result<&'static str, &'static str>>,
    seen: String,
    offered: Vec<Vec<MenuEntry>>,
    given: Vec<String>,
}

impl MenuPerson for ScriptedPerson {
    fn show(&mut self, text: &str) -> Option<()> {
        self.seen.push_str(text);
        Some(())
    }

    fn choose(&mut self, entries: &[MenuEntry]) -> Option<MenuEntry> {
        self.offered.push(entries.to_vec());
        self.picks.remove(0)
    }

    fn line(&mut self, _: &str) -> Option<String> {
        self.lines.remove(0).map(str::to_owned)
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        self.given.push(text.to_owned());
        self.edits.remove(0).map(str::to_owned).map_err(str::to_owned)
    }
}

fn scripted_person(picks: &[MenuEntry]) -> ScriptedPerson {
    let picks = picks.iter().copied().map(Some).chain([None]).collect();
    ScriptedPerson {
        picks,
        lines: Vec::new(),
        edits: Vec::new(),
        seen: String::new(),
        offered: Vec::new(),
        given: Vec::new(),
    }
}

const CARD: ReviewCard<'_> = ReviewCard {
    title: "Run write on notes?",
    arguments: r#"{"key":"a"}"#,
    why: "nothing allows it",
    can_always: AlwaysOption::Yes,
};

#[test]
fn the_card_shows_exactly_what_is_sent_and_nothing_that_deceives() {
    let mut person = scripted_person(&[MenuEntry::Skip]);
    assert_eq!(decide(&CARD, &mut person), Some(MenuChoice::Skip));
    assert_eq!(
        person.seen,
        "\nRun write on notes?\n{\n  \"key\": \"a\"\n}\n(11 bytes of arguments; asked because nothing allows it)\n"
    );
    let card = ReviewCard {
        title: "Run\u{1b}[2J\nx",
        arguments: "{\"a\": 1.00, \"b\u{202e}\": \"\\u0041\"}",
        why: "a\rb",
        can_always: AlwaysOption::NotFor("it\u{200b} deletes"),
    };
    let mut person = scripted_person(&[MenuEntry::Skip]);
    decide(&card, &mut person);
    assert_eq!(
        person.seen,
        "\nRun\\e[2J\\nx\n{\"a\": 1.00, \"b<U+202E>\": \"\\u0041\"}\n(29 bytes of arguments; asked because a\\rb)\n(cannot always be allowed: it<U+200B> deletes)\n"
    );
    let offered =
        [MenuEntry::Run, MenuEntry::Session, MenuEntry::Skip, MenuEntry::Tell, MenuEntry::Edit];
    assert_eq!(person.offered, [offered]);
}

#[test]
fn each_entry_has_its_outcome() {
    for (entry, expected) in [
        (MenuEntry::Run, MenuChoice::Run),
        (MenuEntry::Session, MenuChoice::Session),
        (MenuEntry::Always, MenuChoice::Always),
        (MenuEntry::Skip, MenuChoice::Skip),
    ] {
        assert_eq!(decide(&CARD, &mut scripted_person(&[entry])), Some(expected));
    }
    assert_eq!(decide(&CARD, &mut scripted_person(&[])), None);
    let mut person = scripted_person(&[MenuEntry::Tell, MenuEntry::Tell]);
    person.lines = vec![Some(" \n"), Some("read it first\n")];
    assert_eq!(decide(&CARD, &mut person), Some(MenuChoice::Tell("read it first".to_owned())));
    let mut person = scripted_person(&[MenuEntry::Tell]);
    person.lines = vec![None];
    assert_eq!(decide(&CARD, &mut person), None);
}

#[test]
fn edited_arguments_are_shown_before_they_are_run_and_allow_nothing_for_ever() {
    let mut person = scripted_person(&[MenuEntry::Edit, MenuEntry::Run]);
    person.edits = vec![Ok("{\"key\":\"b\"}\n")];
    assert_eq!(decide(&CARD, &mut person), Some(MenuChoice::Edit(r#"{"key":"b"}"#.to_owned())));
    assert!(person.seen.ends_with(
        "\"key\": \"b\"\n}\n(11 bytes of arguments; asked because nothing allows it)\n"
    ));
    assert_eq!(
        person.offered[1],
        [MenuEntry::Run, MenuEntry::Skip, MenuEntry::Tell, MenuEntry::Edit]
    );
    assert_eq!(person.given, ["{\n  \"key\": \"a\"\n}"]);
}

#[test]
fn an_edit_that_changes_nothing_is_none() {
    let mut person = scripted_person(&[MenuEntry::Edit, MenuEntry::Run]);
    person.edits = vec![Ok("{\n  \"key\": \"a\"\n}\n")];
    assert_eq!(decide(&CARD, &mut person), Some(MenuChoice::Run));
}

#[test]
fn what_is_not_an_object_is_refused_and_can_be_edited_further() {
    for (bad, why) in [
        ("[1]", "the arguments must be a JSON object"),
        ("{\"a\":}", "this is not JSON: expected value at line 1 column 6"),
        ("", "this is not JSON: EOF while parsing a value at line 1 column 0"),
    ] {
        let mut person = scripted_person(&[MenuEntry::Edit, MenuEntry::Edit, MenuEntry::Run]);
        person.edits = vec![Ok(bad), Err("the editor is \u{1b} gone")];
        assert_eq!(decide(&CARD, &mut person), Some(MenuChoice::Run), "{bad}");
        assert!(person.seen.contains(&format!("Not changed: {why}\n")), "{}", person.seen);
        assert!(person.seen.ends_with("Not changed: the editor is \\e gone\n"), "{}", person.seen);
        assert_eq!(person.given[1], bad);
    }
}

#[test]
fn long_arguments_run_only_for_who_has_seen_their_end() {
    let arguments = format!(r#"{{"text":"{}rm -rf"}}"#, "a".repeat(20_000));
    let card = ReviewCard { arguments: &arguments, ..CARD };
    let mut person = scripted_person(&[MenuEntry::Run, MenuEntry::Always, MenuEntry::Skip]);
    person.lines = vec![Some(""), Some("wrong")];
    assert_eq!(decide(&card, &mut person), Some(MenuChoice::Skip));
    assert!(person.seen.contains("(20017 bytes of arguments"), "{}", person.seen.len());
    assert!(person.seen.contains("rm -rf"));

    let shown = fingerprint(&arguments);
    assert!(person.seen.contains(&format!("(fingerprint of the arguments: {shown})")));
    let mut person = scripted_person(&[MenuEntry::Run]);
    person.lines = vec![Some(String::leak(shown))];
    assert_eq!(decide(&card, &mut person), Some(MenuChoice::Run));
}
