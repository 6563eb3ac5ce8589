//! Parsing of server entries: every key, every error, and its message.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use switchboard_document::ConfigError;

use crate::environment::Environment;
use crate::load;
use crate::load::NoConsents;
use crate::log_level::LogLevel;
use crate::places::Places;
use crate::resolved::{Config, EraSetting, HttpKind, ServerConfig, ToolSettings, Transport};
use crate::sampling::{SamplingReview, SamplingSettings};

/// Loads one file with `entry` as the server `it`, as the user's file or as the project's.
fn load_entry(entry: &str, as_project: bool) -> (Config, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    fs::write(&file, format!("{{\n\"mcpServers\": {{\n\"it\": {entry}\n}}}}")).unwrap();
    fs::write(folder.path().join("vars.env"), "A=file\nB='from file'\n").unwrap();
    fs::write(folder.path().join("bad.env"), "A=1\ns3cret\n").unwrap();
    fs::write(folder.path().join("preload.env"), "LD_PRELOAD=/tmp/x.so\n").unwrap();
    let places = Places {
        user: (!as_project).then(|| file.clone()),
        project: as_project.then_some(file),
        ..Places::without_files(folder.path().join("state"))
    };
    let environment = Environment {
        variables: BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]),
        home: Some("/homes/me".into()),
        current_dir: "/place".into(),
    };
    let config = load(&places, &environment, &NoConsents);
    (config, folder)
}

/// Returns the server, and asserts that there are no warnings.
fn server(entry: &str) -> ServerConfig {
    let (mut config, _folder) = load_entry(entry, false);
    assert_eq!((config.problems, config.broken), (vec![], BTreeMap::new()), "{entry}");
    config.servers.remove("it").unwrap()
}

/// Returns the errors and warnings as text, without the path of the test folder.
fn words(entry: &str, as_project: bool) -> String {
    let (config, folder) = load_entry(entry, as_project);
    let folder = format!("{}/", folder.path().display());
    let line = |error: &ConfigError| {
        let hint = error.hint.as_ref().map(|hint| format!(" -> {hint}")).unwrap_or_default();
        format!("{}{hint}", error.to_string().replace(&folder, ""))
    };
    let errors = config.broken.values().map(|error| format!("error {}\n", line(error)));
    let warnings = config.problems.iter().map(|error| format!("warning {}\n", line(error)));
    errors.chain(warnings).collect()
}

fn stdio(command: &str, args: &[&str], env: &[(&str, &str)], cwd: Option<&str>) -> Transport {
    Transport::Stdio {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        cwd: cwd.map(PathBuf::from),
    }
}

fn http(urls: &[&str], headers: &[(&str, &str)], kind: HttpKind) -> Transport {
    Transport::Http {
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        kind,
    }
}

#[cfg(unix)]
#[test]
fn programs_are_read_with_arguments_variables_and_folder() {
    let cases = [
        (r#"{"command": "npx"}"#, stdio("npx", &[], &[], None)),
        (
            r#"{"type": "stdio", "command": "npx", "args": ["-y", "; touch x", "$(x)"], "url": null}"#,
            stdio("npx", &["-y", "; touch x", "$(x)"], &[], None),
        ),
        (
            r#"{"command": "a", "env": {"T": "${TOKEN}", "N": 1.50, "B": true, "X": null}}"#,
            stdio("a", &[], &[("B", "true"), ("N", "1.50"), ("T", "s3cret")], None),
        ),
        (
            r#"{"command": "a", "envFile": "vars.env", "env": {"A": "config"}}"#,
            stdio("a", &[], &[("A", "config"), ("B", "from file")], None),
        ),
        (
            r#"{"command": "./run", "cwd": "sub"}"#,
            stdio("/place/sub/./run", &[], &[], Some("/place/sub")),
        ),
        (
            r#"{"command": "~/bin/run", "cwd": "${userHome}"}"#,
            stdio("/homes/me/bin/run", &[], &[], Some("/homes/me")),
        ),
        (
            r#"{"transport": {"type": "stdio", "command": "a", "args": ["b"]}}"#,
            stdio("a", &["b"], &[], None),
        ),
        (r#"{"transport": "stdio", "command": "a"}"#, stdio("a", &[], &[], None)),
    ];
    for (entry, transport) in cases {
        // Compared as values, because the `Debug` output omits the variables.
        assert!(server(entry).transport == transport, "{entry}");
    }
}

#[test]
fn remote_servers_are_read_with_type_and_headers() {
    let url = "http://a.example/mcp";
    let typed = |kind: &str| format!(r#"{{"url": "{url}", {kind}}}"#);
    let cases = [
        (typed(r#""disabled": null"#), http(&[url], &[], HttpKind::Auto)),
        (typed(r#""type": "sse""#), http(&[url], &[], HttpKind::Sse)),
        (typed(r#""type": "http""#), http(&[url], &[], HttpKind::Streamable)),
        (typed(r#""type": "streamableHttp""#), http(&[url], &[], HttpKind::Streamable)),
        (typed(r#""type": "streamable-http""#), http(&[url], &[], HttpKind::Streamable)),
        (typed(r#""transportType": "streamable_http""#), http(&[url], &[], HttpKind::Streamable)),
        (
            r#"{"transport": {"type": "sse", "url": "https://b.example"}}"#.to_owned(),
            http(&["https://b.example"], &[], HttpKind::Sse),
        ),
        (
            r#"{"urls": ["http://a:1", "http://b:2"], "headers": {"Authorization": "Bearer ${TOKEN}"}}"#
                .to_owned(),
            http(&["http://a:1", "http://b:2"], &[("Authorization", "Bearer s3cret")], HttpKind::Auto),
        ),
    ];
    for (entry, transport) in cases {
        assert!(server(&entry).transport == transport, "{entry}");
    }
}

#[test]
fn the_other_keys_are_read() {
    let read = server(
        r#"{"command": "a", "disabled": true, "timeout": 1.5, "autoApprove": ["x"],
            "alwaysAllow": ["y", "x"], "instances": 4, "era": "modern", "metadata": {"${X}": "${X}"},
            "tools": {"x": {"timeout": 5, "readOnly": true}, "y": {"idempotent": true}}}"#,
    );
    let tools = BTreeMap::from([
        (
            "x".to_owned(),
            ToolSettings {
                timeout: Some(Duration::from_secs(5)),
                read_only: true,
                ..ToolSettings::default()
            },
        ),
        ("y".to_owned(), ToolSettings { idempotent: true, ..ToolSettings::default() }),
    ]);
    let expected = ServerConfig {
        disabled: true,
        timeout: Duration::from_millis(1500),
        auto_approve: BTreeSet::from(["x".to_owned(), "y".to_owned()]),
        instances: 4,
        era: EraSetting::Modern,
        tools,
        ..read.clone()
    };
    assert_eq!(read, expected);
    assert_eq!(read.source.line, 3);
}

#[test]
fn a_server_may_ask_a_model_only_where_its_entry_says_so() {
    let usual = SamplingSettings::default();
    let own = SamplingSettings {
        model: Some("fast".to_owned()),
        max_tokens: 100,
        requests_per_call: 2,
        requests_per_hour: 3,
        tokens_per_hour: 4_000,
        review: SamplingReview::Nobody,
    };
    for (text, expected) in [
        ("null", None),
        ("false", None),
        ("true", Some(usual.clone())),
        ("{}", Some(usual)),
        (
            r#"{"model": "fast", "maxTokens": 100, "requestsPerCall": 2, "requestsPerHour": 3,
                "tokensPerHour": 4000, "review": false}"#,
            Some(own),
        ),
    ] {
        let entry = format!(r#"{{"command": "a", "logLevel": "error", "sampling": {text}}}"#);
        let read = server(&entry);
        assert_eq!((read.sampling, read.log_level), (expected, Some(LogLevel::Error)), "{text}");
    }
    let wrong = words(r#"{"command": "a", "sampling": {"requestsPerCall": 11}}"#, false);
    assert_eq!(
        wrong,
        "error `it`: `sampling.requestsPerCall` must be a whole number from 1 to 10, not 11 \
         (config.json:3) -> use a value in this range, or remove the key\n"
    );
    let wrong = words(r#"{"command": "a", "sampling": "yes"}"#, false);
    let expected = "error `it`: `sampling` must be true, false or an object, not a string \
                    (config.json:3)\n";
    assert_eq!(wrong, expected);
}

#[test]
fn a_call_has_sixty_seconds_unless_its_server_says_otherwise() {
    assert_eq!(server(r#"{"command": "a"}"#).timeout, Duration::from_secs(60));
    assert_eq!(server(r#"{"command": "a", "timeout": 7}"#).timeout, Duration::from_secs(7));
}

#[test]
fn a_timeout_is_moved_into_range_with_a_warning() {
    let cases = [
        ("null", 60.0, false),
        ("120", 120.0, false),
        ("\"120\"", 120.0, false),
        ("0", 1.0, true),
        ("-5", 1.0, true),
        ("60000", 3600.0, true),
        ("1e999", 3600.0, true),
        ("\"soon\"", 60.0, true),
        ("\"inf\"", 60.0, true),
        ("[]", 60.0, true),
    ];
    for (value, seconds, warned) in cases {
        let (config, _folder) =
            load_entry(&format!(r#"{{"command": "a", "timeout": {value}}}"#), false);
        let server = config.servers.get("it").expect(value);
        assert_eq!(server.timeout, Duration::from_secs_f64(seconds), "{value}");
        assert_eq!(config.problems.len(), usize::from(warned), "{value}");
    }
}

/// Entries with one mistake each.
const MISTAKES: &[&str] = &[
    "3",
    "{}",
    r#"{"command": "a", "url": "http://b"}"#,
    r#"{"command": ""}"#,
    r#"{"command": "a\u0000b"}"#,
    r#"{"command": "a\nb"}"#,
    r#"{"command": "a", "args": "b"}"#,
    r#"{"command": "a", "args": ["b", 1]}"#,
    "{\"command\": \"a\",\n \"command\": \"b\"}",
    "{\"command\": \"a\", \"env\": {\"A\": \"1\",\n \"\\u0041\": \"2\"}}",
    "{\"command\": \"a\",\n\n \"env\": {\n  \"KEY\": \"${MISSING}\"}}",
    r#"{"command": "a", "args": ["${input:token}"]}"#,
    r#"{"command": "a", "env": {"A=B": "1"}}"#,
    r#"{"command": "a", "env": {"LD_PRELOAD": "/tmp/x.so"}}"#,
    r#"{"command": "a", "envFile": "none.env"}"#,
    r#"{"command": "a", "envFile": "bad.env"}"#,
    r#"{"command": "a", "envFile": "."}"#,
    r#"{"command": " a"}"#,
    r#"{"command": "a", "headers": {}}"#,
    r#"{"command": "a", "type": "ws"}"#,
    r#"{"command": "a", "type": "http"}"#,
    r#"{"command": "a", "type": "stdio", "transportType": "sse"}"#,
    r#"{"command": "a", "transport": {"command": "b"}}"#,
    r#"{"type": "stdio", "url": "http://b"}"#,
    r#"{"url": "ftp://${TOKEN}"}"#,
    r#"{"url": "http://me:${TOKEN}@host"}"#,
    r#"{"urls": []}"#,
    r#"{"urls": ["http://a", "nonsense"]}"#,
    r#"{"url": "http://a", "urls": ["http://b"]}"#,
    r#"{"url": "http://a", "headers": {"a b": "1"}}"#,
    r#"{"url": "http://a", "headers": {"X": "a\r\nY: b"}}"#,
    r#"{"url": "http://a", "instances": 2}"#,
    r#"{"command": "a", "instances": 33}"#,
    r#"{"command": "a", "disabled": "true"}"#,
    r#"{"command": "a", "autoApprove": true}"#,
    r#"{"command": "a", "timeout": 60000}"#,
    r#"{"command": "a", "timeout": "soon"}"#,
    r#"{"command": "a", "era": "old"}"#,
    r#"{"command": "a", "fallback": "it"}"#,
    r#"{"command": "a", "fallback": "nowhere/tool"}"#,
    r#"{"command": "a", "tools": {"t": {"read_only": true}}}"#,
    r#"{"command": "a", "tools": {"t": 1}}"#,
    r#"{"comand": "a"}"#,
    r#"{"command": "a", "enabled": false}"#,
];

#[test]
fn every_mistake_has_its_words() {
    let text: String = MISTAKES.iter().map(|entry| words(entry, false)).collect();
    let errors = text.lines().filter(|line| line.starts_with("error"));
    let unhelpful: Vec<&str> = errors.filter(|line| !line.contains(" -> ")).collect();
    assert_eq!(unhelpful, Vec::<&str>::new(), "each has a next step");
    insta::assert_snapshot!(text, @r#"
    error `it`: the entry must be an object, not a number (config.json:3:7) -> write `{"command": ...}` or `{"url": ...}`
    error `it`: has neither `command` nor `url` (config.json:3:1) -> give a `command` for a program, or a `url` for a remote server
    error `it`: has both `command` and `url` (config.json:3) -> keep `command` for a program, or `url` for a remote server
    error `it`: `command` is empty (config.json:3) -> name the program to start
    error `it`: `command` contains a NUL character (config.json:3) -> remove it
    error `it`: `command` contains a line break (config.json:3) -> name one program; its arguments belong in `args`
    error `it`: `args` must be a list of strings, not a string (config.json:3) -> write `["one", "two"]`
    error `it`: `args[1]` must be a string, not a number (config.json:3) -> write it in double quotes
    error `it`: `command` is given twice (config.json:4) -> keep one of them
    error `it`: `env.A` is given twice (config.json:4) -> keep one of them
    error `it`: variable `MISSING` is not set (config.json:6, key `env.KEY`) -> set it in the environment, or give a default: `${MISSING:-default}`
    error `it`: `${input:token}` is not a variable (config.json:3, key `args[0]`) -> use `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${keyring:NAME}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}` or `${/}`; write `$${` for a plain `${`
    error `it`: `env.A=B` is not a valid variable name (config.json:3) -> use letters, digits and `_`
    error `it`: `none.env` does not exist (config.json:3, key `envFile`) -> create it, or correct `envFile`; a relative path starts at this file
    error `it`: `bad.env` cannot be read at line 2: the line has no `=` (config.json:3, key `envFile`) -> every line is `NAME=value`, a comment after `#`, or empty
    error `it`: `.` is not a regular file (config.json:3, key `envFile`) -> use a regular text file
    warning `it`: `command` has white space at its start or end, which is kept (config.json:3)
    warning `it`: `headers` has no effect on a server started by `command` (config.json:3)
    error `it`: `type` cannot be `ws` (config.json:3) -> use one of `stdio`, `sse`, `http`, `streamableHttp`, `streamable-http`, `streamable_http`
    error `it`: is of a remote type and so needs `url` (config.json:3:1) -> give a `url`, or remove the type
    error `it`: `transportType` contradicts the type given before (config.json:3) -> keep `type` alone
    error `it`: `command` is given inside and outside of `transport` (config.json:3) -> keep one of them
    error `it`: is of type `stdio` and so needs `command` (config.json:3:1) -> give a `command`, or remove the type
    error `it`: `url` is neither `http://` nor `https://` (config.json:3) -> write `https://host/path`
    error `it`: `url` contains a user name or password, which belongs in `headers` (config.json:3) -> write `https://host/path`
    error `it`: `urls` is empty (config.json:3) -> name at least one address, or use `url`
    error `it`: `urls[1]` has no `http://` or `https://` (config.json:3) -> write `https://host/path`
    error `it`: has both `url` and `urls` (config.json:3) -> keep one of them
    error `it`: `headers.a b` is not a valid header name (config.json:3) -> use letters, digits and `-`
    error `it`: `headers.X` contains a control character (config.json:3) -> remove it; a value has one line
    error `it`: `instances` is only for servers started by `command` (config.json:3) -> remove the key; several addresses of one server go into `urls`
    error `it`: `instances` must be a whole number from 1 to 32, not 33 (config.json:3) -> use a value in this range, or remove the key
    error `it`: `disabled` must be true or false, not a string (config.json:3) -> write it without quotes
    error `it`: `autoApprove` must be a list of strings, not true or false (config.json:3) -> write `["one", "two"]`
    warning `it`: `timeout` of 60000 s is out of range, 3600 s is used (config.json:3) -> give 1 to 3600 seconds
    warning `it`: `timeout` must be a number, not `soon`; the default is used (config.json:3) -> give 1 to 3600 seconds
    error `it`: `era` cannot be `old` (config.json:3) -> use one of `auto`, `legacy`, `modern`
    error `it`: `fallback` cannot be the server itself (config.json:3) -> name another server
    warning `it`: `nowhere/tool` is not a configured server (config.json:3, key `fallback`) -> write `server` or `server/tool` with the name of a configured server
    warning `it`: `read_only` is not known (config.json:3, key `tools.t.read_only`) -> did you mean `readOnly`?
    error `it`: `tools.t` must be an object, not a number (config.json:3) -> write `{"name": "value"}`
    error `it`: has neither `command` nor `url` (config.json:3:1) -> give a `command` for a program, or a `url` for a remote server
    warning `it`: `comand` is not known (config.json:3) -> did you mean `command`?
    warning `it`: `enabled` is not known (config.json:3) -> did you mean `disabled`?
    "#);
}

#[test]
fn what_is_dangerous_waits_for_a_person_unless_their_own_entry_agrees_to_it() {
    let preload = r#""command": "a", "env": {"NODE_OPTIONS": "--require ./x"}"#;
    let agreed = format!(r#"{{{preload}, "dangerous": ["env:NODE_OPTIONS"]}}"#);
    let other = format!(r#"{{{preload}, "dangerous": ["eval"]}}"#);
    let cases = [
        (r#"{"command": "a"}"#.to_owned(), false, true),
        (format!("{{{preload}}}"), false, false),
        (agreed.clone(), false, true),
        (other, false, false),
        (agreed, true, false),
        (r#"{"command": "a", "envFile": "preload.env"}"#.to_owned(), false, false),
        (r#"{"command": "bash", "args": ["-lc", "x"]}"#.to_owned(), false, false),
    ];
    for (entry, as_project, approved) in cases {
        let (config, _folder) = load_entry(&entry, as_project);
        assert_eq!(config.servers["it"].approved, approved, "{entry}");
    }
}

#[test]
fn no_words_contain_a_secret() {
    let entries = [
        r#"{"url": "ftp://${TOKEN}"}"#,
        r#"{"url": "http://${TOKEN}@host"}"#,
        r#"{"url": "http://a", "headers": {"X": "${TOKEN}\n"}}"#,
        r#"{"command": "${TOKEN}\n"}"#,
        r#"{"command": "a", "env": {"X": "${TOKEN} "}}"#,
        r#"{"command": "a", "envFile": "bad.env"}"#,
    ];
    for entry in entries {
        let words = words(entry, false);
        assert!(!words.is_empty() && !words.contains("s3cret"), "{words}");
    }
}

#[test]
fn a_prefix_is_part_of_a_name_or_nothing() {
    for (text, expected) in [(r#""gh""#, Some("gh")), (r#""""#, Some("")), ("null", None)] {
        let entry = format!(r#"{{"command": "a", "prefix": {text}}}"#);
        assert_eq!(server(&entry).prefix.as_deref(), expected, "{text}");
    }
    for text in ["a b", "a/b", "ü", "a.b"] {
        let entry = format!(r#"{{"command": "a", "prefix": "{text}"}}"#);
        let expected = format!(
            "error `it`: `prefix` must be at most 32 letters, digits, `_` and `-`, not `{text}` \
             (config.json:3)\n"
        );
        assert_eq!(words(&entry, false), expected);
    }
}
