//! The members of `server.json`, for the schema of 2025-12-11 and earlier spellings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::server_json::lenient;

/// The published description of one version of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerDetail {
    #[serde(rename = "$schema")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub name: String,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(alias = "website_url")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    #[serde(deserialize_with = "lenient::maybe", skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<RegistryPackage>,
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<RegistryRemote>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The source repository of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Repository {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The hosting service, such as `github`.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An icon of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Icon {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub src: Option<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A package that runs a server locally.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RegistryPackage {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` or another registry.
    #[serde(alias = "registry_type", alias = "registry_name", alias = "registryName")]
    pub registry_type: String,
    /// The package registry, if not the default of its type.
    #[serde(alias = "registry_base_url")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub registry_base_url: Option<String>,
    /// The package: a name, an image, or the URL of a file.
    #[serde(alias = "name")]
    pub identifier: String,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The SHA-256 digest of a bundle.
    #[serde(alias = "file_sha256")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub file_sha256: Option<String>,
    /// The suggested runner: `npx`, `uvx`, `docker`, `dnx`.
    #[serde(alias = "runtime_hint")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub runtime_hint: Option<String>,
    #[serde(deserialize_with = "lenient::maybe", skip_serializing_if = "Option::is_none")]
    pub transport: Option<PackageTransport>,
    #[serde(alias = "runtime_arguments")]
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub runtime_arguments: Vec<PackageArgument>,
    #[serde(alias = "package_arguments")]
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub package_arguments: Vec<PackageArgument>,
    #[serde(alias = "environment_variables")]
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub environment_variables: Vec<KeyValue>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The transport of a package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackageTransport {
    /// `stdio`, `streamable-http` or `sse`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The URL that an HTTP transport listens on.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A server that the publisher hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RegistryRemote {
    #[serde(rename = "type", alias = "transport_type", alias = "transportType")]
    pub kind: String,
    /// The URL, with `{name}` for variables.
    pub url: String,
    #[serde(deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<KeyValue>,
    #[serde(deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, ValueInput>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A value, or the description of a question for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueInput {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A fixed value, which the user is not asked for.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(alias = "is_required")]
    #[serde(deserialize_with = "lenient::flag", skip_serializing_if = "is_not")]
    pub is_required: bool,
    #[serde(alias = "is_secret")]
    #[serde(deserialize_with = "lenient::careful_flag", skip_serializing_if = "is_not")]
    pub is_secret: bool,
    /// `string`, `number`, `boolean` or `filepath`.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The values of `{name}` variables in `value`.
    #[serde(deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Self>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A positional or named argument on the command line of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PackageArgument {
    #[serde(rename = "type")]
    pub kind: String,
    /// The option of a named argument, with its dashes.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(alias = "value_hint")]
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub value_hint: Option<String>,
    #[serde(alias = "is_repeated")]
    #[serde(deserialize_with = "lenient::flag", skip_serializing_if = "is_not")]
    pub is_repeated: bool,
    #[serde(flatten)]
    pub input: ValueInput,
}

/// An environment variable or a header.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyValue {
    pub name: String,
    #[serde(flatten)]
    pub input: ValueInput,
}

impl ServerDetail {
    /// Returns the version, which older schemas have in a nested object.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref().or_else(|| {
            let detail =
                self.other.get("version_detail").or_else(|| self.other.get("versionDetail"));
            detail?.get("version")?.as_str()
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_schema_and_the_older_spellings_say_the_same() {
        let new = json!({
            "name": "io.github.a/b", "description": "d", "version": "1.0.0",
            "packages": [{
                "registryType": "npm", "identifier": "b", "version": "1.0.0", "runtimeHint": "npx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "valueHint": "x", "isRequired": true}],
                "environmentVariables": [{"name": "KEY", "isSecret": true, "isRequired": true}],
            }],
            "remotes": [{"type": "sse", "url": "https://a.example/sse"}],
        });
        let old = json!({
            "name": "io.github.a/b", "description": "d", "version": "1.0.0",
            "packages": [{
                "registry_name": "npm", "name": "b", "version": "1.0.0", "runtime_hint": "npx",
                "transport": {"type": "stdio"},
                "package_arguments": [{"type": "positional", "value_hint": "x", "is_required": true}],
                "environment_variables": [{"name": "KEY", "is_secret": true, "is_required": true}],
            }],
            "remotes": [{"transport_type": "sse", "url": "https://a.example/sse"}],
        });
        let read = |value: &Value| serde_json::from_value::<ServerDetail>(value.clone()).unwrap();
        assert_eq!(read(&old), read(&new));
        assert_eq!(serde_json::to_value(read(&new)).unwrap(), new);
        let oldest = json!({"name": "a/b", "version_detail": {"version": "2.0.0"}});
        assert_eq!(read(&oldest).version(), Some("2.0.0"));
    }

    #[test]
    fn unknown_members_are_kept_and_bad_ones_hide_no_siblings() {
        let odd = json!({
            "name": "a/b", "later": {"x": 1}, "icons": null, "remotes": "none",
            "packages": [7, {"registryType": "npm", "identifier": "b", "more": true,
                "packageArguments": [{"type": "positional", "value": 8080}]}],
        });
        let detail: ServerDetail = serde_json::from_value(odd).unwrap();
        assert_eq!(detail.other.get("later"), Some(&json!({"x": 1})));
        assert_eq!((detail.packages.len(), detail.remotes.len()), (1, 0));
        assert_eq!(detail.packages[0].other.get("more"), Some(&json!(true)));
        let argument = &detail.packages[0].package_arguments[0];
        assert_eq!(argument.input.value.as_deref(), Some("8080"));
    }

    #[test]
    fn a_secret_flag_in_an_odd_form_still_makes_a_secret() {
        for (flag, expected) in [
            (json!(true), true),
            (json!("true"), true),
            (json!("yes"), true),
            (json!(1), true),
            (json!(false), false),
            (json!("false"), false),
            (json!(null), false),
        ] {
            let input: ValueInput = serde_json::from_value(json!({"isSecret": flag})).unwrap();
            assert_eq!(input.is_secret, expected, "{flag}");
        }
    }
}
