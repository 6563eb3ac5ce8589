//! Answers in their positions: secrets as references, everything else literally.

use serde_json::json;

use super::*;
use crate::client::RegistryReach;
use crate::plan::install_choices;
use crate::server_json::ServerDetail;

fn plan(part: &Value) -> InstallPlan {
    let mut server = part.clone();
    server["name"] = json!("a/b");
    let server: ServerDetail = serde_json::from_value(server).unwrap();
    install_choices(&server, RegistryReach::Public).pop().unwrap().plan.unwrap()
}

fn answers(pairs: &[(&str, &str)]) -> InstallAnswers {
    let mut answers = InstallAnswers::new();
    for (name, value) in pairs {
        answers.entry((*name).to_owned()).or_default().push((*value).to_owned());
    }
    answers
}

fn package(more: &Value) -> Value {
    let mut package = json!({"registryType": "npm", "identifier": "b", "version": "1.0.0"});
    for (name, value) in more.as_object().unwrap() {
        package[name] = value.clone();
    }
    json!({"packages": [package]})
}

#[test]
fn secrets_of_variables_are_kept_and_the_entry_has_their_names() {
    let plan = plan(&package(&json!({"environmentVariables": [
        {"name": "API-KEY", "isSecret": true, "isRequired": true},
        {"name": "AUTH", "value": "Bearer {token}", "variables": {"token": {"isSecret": true}}},
        {"name": "REGION", "default": "eu", "choices": ["eu", "us"]},
        {"name": "UNUSED"},
    ]})));
    let names: Vec<(&str, bool, bool)> =
        plan.asked.iter().map(|one| (one.name.as_str(), one.required, one.secret)).collect();
    assert_eq!(
        names,
        [
            ("API-KEY", true, true),
            ("token", false, true),
            ("REGION", false, false),
            ("UNUSED", false, false)
        ]
    );
    let recipe = plan.fill(&answers(&[("API-KEY", "s3cret"), ("token", "t0ken")])).unwrap();
    assert_eq!(
        Value::Object(recipe.entry()),
        json!({"command": "npx", "args": ["-y", "b@1.0.0"], "env": {
            "API-KEY": "${keyring:API_KEY}", "AUTH": "Bearer ${keyring:token}", "REGION": "eu"}})
    );
    let secrets = [("API_KEY", "s3cret"), ("token", "t0ken")];
    assert_eq!(
        recipe.secrets,
        secrets.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    );
    assert!(!format!("{:?}{:?}", recipe.words(), recipe.pairs()).contains("s3cret"));
}

#[test]
fn a_secret_in_plain_sight_comes_from_the_environment() {
    let plan = plan(&package(&json!({"packageArguments": [
        {"type": "named", "name": "--token", "isSecret": true, "isRequired": true, "format": "string"}]})));
    let recipe = plan.fill(&answers(&[("token", "s3cret")])).unwrap();
    assert_eq!(recipe.words(), ["npx", "-y", "b@1.0.0", "--token", "${token}"]);
    assert_eq!(
        (recipe.secrets, recipe.from_environment),
        (BTreeMap::new(), vec!["token".to_owned()])
    );
}

#[test]
fn answers_are_checked() {
    let plan = plan(&package(&json!({"packageArguments": [
        {"type": "positional", "valueHint": "folder", "isRequired": true, "isRepeated": true},
        {"type": "named", "name": "--level", "choices": ["low", "high"]}]})));
    let fill = |pairs: &[(&str, &str)]| {
        plan.fill(&answers(pairs))
            .map(|recipe| recipe.words().join(" "))
            .map_err(|error| error.to_string())
    };
    for (pairs, expected) in [
        (&[("folder", "/a"), ("folder", "/b c")][..], Ok("npx -y b@1.0.0 /a /b c")),
        (&[("folder", "${HOME}"), ("level", "low")], Ok("npx -y b@1.0.0 $${HOME} --level low")),
        (&[], Err("`folder` is required but has no value")),
        (&[("folder", "")], Err("`folder` is required but has no value")),
        (&[("folder", "/a"), ("level", "top")], Err("`level` must be one of `low`, `high`")),
        (&[("folder", "/a"), ("level", "low"), ("level", "high")], Err("`level` takes one value")),
        (&[("folder", "a\nb")], Err("`folder` contains a control character")),
        (&[("folder", "/a"), ("other", "x")], Err("unknown setting `other`")),
    ] {
        assert_eq!(fill(pairs), expected.map(str::to_owned).map_err(str::to_owned), "{pairs:?}");
    }
}

#[test]
fn a_remote_has_its_address_and_headers_filled_and_checked() {
    let plan = plan(&json!({"remotes": [{
        "type": "streamable-http", "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"isRequired": true}},
        "headers": [
            {"name": "Authorization", "value": "Bearer {key}", "variables": {"key": {"isRequired": true}}},
            {"name": "X-Mode", "value": "${HOME}"}],
    }]}));
    // A key in `Authorization` is a secret, even if its publisher does not mark it.
    assert!(plan.asked.iter().any(|asked| asked.name == "key" && asked.secret));
    let recipe = plan.fill(&answers(&[("tenant", "me"), ("key", "s3cret")])).unwrap();
    assert_eq!(
        Value::Object(recipe.entry()),
        json!({"type": "http", "url": "https://me.example.com/mcp", "headers": {
            "Authorization": "Bearer ${keyring:key}", "X-Mode": "$${HOME}"}})
    );
    for tenant in ["169.254.169.254/x?", "10.0.0.1/", "a b", "user@evil"] {
        let refused = plan.fill(&answers(&[("tenant", tenant), ("key", "s3cret")]));
        assert!(refused.is_err(), "{tenant}");
    }
}
