//! Tests of patterns: covered names, other names, and invalid patterns.

use proptest::prelude::*;

use super::Pattern;

#[test]
fn a_pattern_covers_what_fits_around_its_stars() {
    for (pattern, server, target, expected) in [
        ("files/read", "files", "read", true),
        ("files/read", "files", "read_all", false),
        ("files/*", "files", "read", true),
        ("files", "files", "read", true),
        ("files", "files2", "read", false),
        ("*", "any", "thing", true),
        ("*/read*", "files", "read_all", true),
        ("*/read*", "files", "write", false),
        ("files/r*d", "files", "rd", true),
        ("files/r*d", "files", "red_hat", false),
        ("github.com/a/b/*", "github.com/a/b", "create", true),
        ("f*s/*e*d", "files", "read", true),
        ("files/a*a", "files", "a", false),
        ("files/a**b", "files", "ab", true),
        ("*/read*", "evil", "x/read_all", false),
        ("files/*", "files", "a/b", true),
        ("a/b/c", "a", "b/c", true),
        ("Files/read", "files", "read", false),
        ("files/read", "files", "read ", false),
    ] {
        assert_eq!(Pattern::parse(pattern).unwrap().covers(server, target), expected, "{pattern}");
    }
}

#[test]
fn question_marks_brackets_and_braces_stand_for_what_people_expect() {
    for (pattern, server, target, expected) in [
        ("files/rea?", "files", "read", true),
        ("files/rea?", "files", "rea", false),
        ("files/rea?", "files", "reads", false),
        ("files/?", "files", "ä", true),
        ("files/*_?", "files", "read_1", true),
        ("files/*_?", "files", "read_12", false),
        ("files/*?*", "files", "x", true),
        ("files/*?*", "files", "", false),
        ("files/v[0-9]", "files", "v7", true),
        ("files/v[0-9]", "files", "vx", false),
        ("files/v[!0-9]", "files", "vx", true),
        ("files/v[^0-9]", "files", "v1", false),
        ("files/[a-cx_]*", "files", "x9", true),
        ("files/[a-cx_]*", "files", "d9", false),
        ("files/[]]", "files", "]", true),
        ("files/[]/]x", "files", "/x", true),
        ("files/[a-]", "files", "-", true),
        ("files/[\\]a]x", "files", "]x", true),
        ("files/*[0-9]z*", "files", "a1b2z3", true),
        ("files/*[0-9]", "files", "a1b", false),
        ("[fg]iles/*", "giles", "read", true),
        ("?iles", "files", "read", true),
        ("{files,web}/read", "web", "read", true),
        ("{files,web}/read", "mail", "read", false),
        ("files/{read,write}_all", "files", "write_all", true),
        ("files/{read,write}_all", "files", "readwrite_all", false),
        ("files/{,un}lock", "files", "unlock", true),
        ("files/{,un}lock", "files", "lock", true),
        ("{files/read,web/*}", "web", "get", true),
        ("{files/read,web/*}", "files", "get", false),
        ("{files,web}", "web", "get", true),
        ("files/{a,b{c,d}}x", "files", "bdx", true),
        ("files/{a,b{c,d}}x", "files", "bx", false),
        ("files/{[ab],c}", "files", "b", true),
        ("files/a,b", "files", "a,b", true),
        ("files/a\\*", "files", "a*", true),
        ("files/a\\*", "files", "ab", false),
        ("files/\\{a,b\\}", "files", "{a,b}", true),
        ("a\\/b/c", "a/b", "c", true),
        ("a\\/b/c", "a", "b/c", false),
        ("web/https://h/x\\?q=*", "web", "https://h/x?q=1", true),
        ("web/https://h/x\\?q=*", "web", "https://h/xyq=1", false),
        ("web/http://\\[::1\\]/*", "web", "http://[::1]/a", true),
        ("web/https://{a,b}.example/*", "web", "https://b.example/x", true),
        ("v[12]/memo://*", "v2", "memo://x", true),
    ] {
        let read = Pattern::parse(pattern).unwrap_or_else(|bad| panic!("{pattern}: {bad:?}"));
        assert_eq!(read.covers(server, target), expected, "{pattern} {server} {target}");
        assert!(read.reaches(server) || !expected, "{pattern} {server}");
    }
}

#[test]
fn what_can_be_no_pattern_is_told_with_its_place_and_covers_nothing() {
    for (pattern, offset, message) in [
        ("files/[a", 6, "has an unclosed `[`"),
        ("files/[]", 6, "has an unclosed `[`"),
        ("files/[b-a]", 6, "has a reversed range"),
        ("files/{a,b", 6, "has an unclosed `{`"),
        ("files/{a}", 6, "has braces with only one alternative"),
        ("files/a}", 7, "has an unopened `}`"),
        ("files/a\\", 7, "ends with an incomplete escape"),
        ("files/", 0, "needs a name on both sides of its `/`, without spaces around it"),
        ("/read", 0, "needs a name on both sides of its `/`, without spaces around it"),
        ("{files/,web/x}", 0, "needs a name on both sides of its `/`, without spaces around it"),
        (
            "web/https://h/?q",
            14,
            "has a `?` or `[` in a URI, which is either a part of it or a wildcard",
        ),
        (
            "web/http://[::1]/",
            11,
            "has a `?` or `[` in a URI, which is either a part of it or a wildcard",
        ),
    ] {
        let bad = Pattern::parse(pattern).unwrap_err();
        assert_eq!((bad.offset, bad.message), (offset, message), "{pattern}");
        assert!(!Pattern::new(pattern).covers("files", "a"), "{pattern}");
    }
    let many = "{0,1,2,3,4,5,6,7,8,9}".repeat(3);
    assert_eq!(Pattern::parse(&many).unwrap_err().message, "expands to too many alternatives");
}

proptest! {
    #[test]
    fn a_pattern_of_escaped_signs_covers_its_name_and_no_other(
        server in "[ab*?\\[\\]{},\\\\!^/ -]{1,4}",
        target in "[ab*?\\[\\]{},\\\\!^/:. -]{1,6}",
        other in "[ab*?\\[\\]{},\\\\!^/:. -]{1,6}",
    ) {
        let all = |text: &str| text.chars().flat_map(|sign| ['\\', sign]).collect::<String>();
        prop_assume!(server.trim() == server && target.trim() == target);
        let written = format!("{}/{}", all(&server), all(&target));
        for pattern in [Pattern::parse(&written).unwrap(), Pattern::exactly(&server, &target)] {
            prop_assert!(pattern.covers(&server, &target), "{written}");
            prop_assert_eq!(pattern.covers(&server, &other), other == target, "{}", written);
            prop_assert_eq!(pattern.covers(&other, &target), other == server, "{}", written);
            let name = format!("{server}/{target}");
            prop_assert_eq!(pattern.literal(), Some(name.as_str()));
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_told_to_be_none(text in "[ab*?\\[\\]{},\\\\!^/-]{0,12}") {
        let read = Pattern::parse(&text);
        let taken = Pattern::new(&text);
        prop_assert_eq!(taken.as_str(), text.as_str());
        if read.is_err() {
            prop_assert!(!taken.reaches("a") && !taken.covers("a", "b"));
        }
    }

    #[test]
    fn braces_cover_what_one_of_their_texts_covers(
        texts in proptest::collection::vec("[ab*?]{1,3}", 2..4),
        target in "[abc]{1,4}",
    ) {
        let joined = Pattern::parse(&format!("s/{{{}}}", texts.join(","))).unwrap();
        let apart = texts.iter().any(|text| Pattern::new(&format!("s/{text}")).covers("s", &target));
        prop_assert_eq!(joined.covers("s", &target), apart);
    }
}
