//! Tests of texts that are redacted, and of texts that are not.

use super::*;

const KEY: &str =
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc\n-----END RSA PRIVATE KEY-----";

#[test]
fn well_known_shapes_are_taken_out_wherever_they_stand() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN";
    let cases: [(String, &str); 29] = [
        (format!("token ghp_{}!", "a1B2".repeat(9)), "token [redacted]!"),
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "[redacted]"),
        (format!("a {jwt} b"), "a [redacted] b"),
        (format!("x{KEY}\ny"), "x[redacted]\ny"),
        ("Authorization: Bearer abc\r\nHost: x".to_owned(), "Authorization: [redacted]\r\nHost: x"),
        ("authorization: Basic dXNlcjpwYXNz".to_owned(), "authorization: [redacted]"),
        (
            r#"{"Authorization":"Bearer abc","b":1}"#.to_owned(),
            r#"{"Authorization":"[redacted]","b":1}"#,
        ),
        (
            r#"{"t":"{\"authorization\": \"token abc\"}"}"#.to_owned(),
            r#"{"t":"{\"authorization\": \"[redacted]\"}"}"#,
        ),
        ("curl -H 'Bearer abcdef123456'".to_owned(), "curl -H 'Bearer [redacted]'"),
        ("key=sk-proj-abcDEF1234567890xyz.".to_owned(), "key=[redacted]."),
        (r"line\nghp_0123456789abcdef\nend".to_owned(), r"line\n[redacted]\nend"),
        (format!("{}{}", "-----BEGIN PRIVATE KEY-----\n", "AAAA"), "[redacted]"),
        ("xoxb-123456789012-abc".to_owned(), "[redacted]"),
        ("https://x/?t=glpat-ABCdef1234567890".to_owned(), "https://x/?t=[redacted]"),
        ("postgres://me:hunter2@db/x".to_owned(), "postgres://me:[redacted]@db/x"),
        ("HTTPS://a:b%40c!@h".to_owned(), "HTTPS://a:[redacted]@h"),
        ("xoxe.xoxp-1-Mi0yLTEyMzQ1Njc4OTA".to_owned(), "xoxe.[redacted]"),
        ("hvs.CAESIJ0123456789abcdef".to_owned(), "[redacted]"),
        ("SG.abcDEF123456.xyz_0123456789abcdefABC".to_owned(), "[redacted]"),
        ("AUTHORIZATION=Bearer abc".to_owned(), "AUTHORIZATION=[redacted]"),
        ("proxy-authorization: basic dXNlcjpwYXNz".to_owned(), "proxy-authorization: [redacted]"),
        ("dckr_pat_abcDEF1234567890abc".to_owned(), "[redacted]"),
        ("x%3Dghp_0123456789abcdef".to_owned(), "x%3D[redacted]"),
        (r"x\u003dghp_0123456789abcdef".to_owned(), r"x\u003d[redacted]"),
        (r"x\x3dghp_0123456789abcdef".to_owned(), r"x\x3d[redacted]"),
        ("\u{1b}[1;32mghp_0123456789abcdef\u{1b}[0m".to_owned(), "\u{1b}[1;32m[redacted]\u{1b}[0m"),
        (r"\u001b[32mAKIAIOSFODNN7EXAMPLE".to_owned(), r"\u001b[32m[redacted]"),
        (r"\e[mglpat-ABCdef1234567890".to_owned(), r"\e[m[redacted]"),
        (format!("%20{jwt}%20"), "%20[redacted]%20"),
    ];
    for (given, expected) in cases {
        assert_eq!(redact_text(&given), expected, "{given}");
    }
}

#[test]
fn a_key_is_taken_out_with_its_name() {
    let name = "AKIAIOSFODNN7EXAMPLE";
    let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    for given in [
        format!("{name}:{key}"),
        format!("{name} {key}"),
        format!("id {name}, key {key}."),
        format!("aws_access_key_id = {name}\naws_secret_access_key = {key}\n"),
        format!("AWS_SECRET_ACCESS_KEY={key}"),
        format!("export AWS_SECRET_ACCESS_KEY='{key}'"),
        format!(r#"{{"AccessKeyId":"{name}","SecretAccessKey":"{key}"}}"#),
        format!(r#"{{"SecretAccessKey": "{key}"}}"#),
        format!(r#"{{"t":"{{\"secretAccessKey\":\"{key}\"}}"}}"#),
        format!("The secret access key: {key}"),
        format!(r#"[{{"a":["{name}"],"aws_secret_access_key":"{key}"}}]"#),
    ] {
        let clean = redact_text(&given);
        assert!(!clean.contains("wJalr") && !clean.contains("AKIA"), "{given}: {clean}");
        if given.starts_with(['{', '[']) {
            serde_json::from_str::<serde_json::Value>(&clean).unwrap();
        }
    }
    let hash = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    let far = format!("{name} {} {hash}", "and so on ".repeat(6));
    assert!(redact_text(&far).ends_with(hash));
}

#[test]
fn ordinary_words_stay() {
    let cases = [
        "",
        "the task-oriented-risk-assessment-of-today",
        "authorization is needed: see the manual",
        "Authorization: required",
        "a bearer of news",
        "eyJust a word",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "sk-learn-is-a-library-for-python",
        "AKIA is a prefix, ghp_ too",
        "b2d8e4f6a0c1",
        "http://localhost:8080/a@b and mailto:a@b.c",
        "https://user@host/x: see SG.com",
        "ssh://git@example.com:22/x",
        "the secret access key: see the manual",
        "secret_access_key=${AWS_KEY}",
        "frozen[1mghp_0123456789abcdef",
        "laughp_0123456789abcdef and 3Dghp_0123456789abcdef",
    ];
    for given in cases {
        assert_eq!(redact_bytes(given.as_bytes()), None, "{given}");
    }
}

#[test]
fn a_known_secret_is_taken_out_in_every_form_but_only_as_it_is() {
    add_secrets(["pa\"ss word/9", "short"]);
    assert_eq!(redact_text(r#"a pa"ss word/9 b"#), "a [redacted] b");
    assert_eq!(redact_text(r#"{"a":"pa\"ss word/9"}"#), r#"{"a":"[redacted]"}"#);
    assert_eq!(redact_text("https://x/?k=pa%22ss%20word%2F9&b"), "https://x/?k=[redacted]&b");
    assert_eq!(redact_text("PA\"SS WORD/9 short"), "PA\"SS WORD/9 short");
}

#[test]
fn a_known_secret_is_taken_out_of_other_writings() {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
    let secret = "s3cr3t pässword~>?/1";
    add_secrets([secret]);
    let json = serde_json::json!({ "a": secret }).to_string();
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    for given in [
        format!("id {hex} end"),
        serde_json::json!({ "inner": json }).to_string(),
        "k=s3cr3t+p%C3%A4ssword~%3E%3F%2F1&b".to_owned(),
        "k=s3cr3t%20p%c3%a4ssword~%3e%3f%2f1&b".to_owned(),
        r#"{"a":"s3cr3t p\u00e4ssword~>?/1"}"#.to_owned(),
        r#"{"a":"s3cr3t p\u00E4ssword~>?/1"}"#.to_owned(),
        r#"{"a":"s3cr3t pässword~>?\/1"}"#.to_owned(),
        r#"{"a":"s3cr3t p\u00e4ssword~>?\/1"}"#.to_owned(),
        r#"{"a":"s3cr3t pässword~\u003e?/1"}"#.to_owned(),
        r#"{"a":"{\"b\":\"s3cr3t p\\u00e4ssword~>?/1\"}"}"#.to_owned(),
        "/s3cr3t%20p%C3%A4ssword~%3E%3F/1/x".to_owned(),
        "<b>s3cr3t pässword~&gt;?/1</b>".to_owned(),
        hex.to_uppercase(),
        BASE64_STANDARD.encode(secret),
        BASE64_STANDARD.encode(format!("user:{secret}")),
        BASE64_STANDARD.encode(format!("me:{secret}:more")),
        BASE64_URL_SAFE_NO_PAD.encode(format!("name:{secret}")),
    ] {
        let clean = redact_text(&given);
        assert!(clean.contains(REDACTED), "{given}: {clean}");
        // The rest is not sensitive: at most the digits at both ends remain.
        assert!(clean.len() < given.len() - 16 + REDACTED.len(), "{given}: {clean}");
    }
}

#[test]
fn a_known_secret_keeps_its_capital_letters_in_an_address_of_small_digits() {
    add_secrets(["Cap+Ital/Letters=="]);
    for given in [
        "k=Cap%2bItal%2fLetters%3d%3d",
        "k=Cap%2BItal/Letters%3D%3D",
        r#"{"k":"Cap+Ital/Letters\u003d\u003d"}"#,
        r#"{"k":"Cap+Ital\/Letters=="}"#,
    ] {
        assert_eq!(redact_text(given).matches("Ital").count(), 0, "{given}");
    }
}

#[test]
fn lines_in_pieces_lose_their_secrets_and_nothing_else() {
    let given = format!("one\nghp_0123456789abcdef\n{KEY}\ntwo\nthree");
    for size in [1, 3, 7, 4096] {
        let mut lines = LineRedactor::default();
        let mut out = Vec::new();
        for piece in given.as_bytes().chunks(size) {
            out.extend(lines.push(piece));
        }
        out.extend(lines.finish());
        assert_eq!(String::from_utf8(out).unwrap(), "one\n[redacted]\n[redacted]\ntwo\nthree");
    }
}

/// The fast and the slow search find the same secrets in texts that nearly match.
#[test]
fn both_ways_of_searching_find_the_same() {
    let values = BTreeSet::from(["pass-word-1".to_owned(), "ghp_value".to_owned()]);
    let quick = KnownSecrets::new(values);
    let slow = KnownSecrets {
        quick: None,
        table: build_automaton(&quick.patterns),
        ..KnownSecrets::new(quick.values.clone())
    };
    let pieces = [
        "ghp_",
        "GHP_",
        "a1B2c3D4e5F6",
        "-----BEGIN PRIVATE KEY-----",
        "---",
        "sk-",
        "eyJ",
        ".",
        " ",
        "Authorization",
        "auThorization",
        ": ",
        "Bearer ",
        "BEARER ",
        "pass-word-1",
        "pass-word-",
        "value",
        "\\n",
        "\"",
        "AKIA",
        "ABCDEFGH1234",
        "x",
    ];
    let mut state = 7_u64;
    let mut found = 0;
    for _ in 0..4_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        let places = quick.secret_ranges(text.as_bytes());
        assert_eq!(places, slow.secret_ranges(text.as_bytes()), "{text}");
        found += places.len();
    }
    assert!(found > 1_000, "{found}");
}
