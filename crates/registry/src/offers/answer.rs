//! Answers `GET /v0.1/servers` and its subpaths.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::offers::describe::{RegistryOffer, to_json};
use crate::server_json::ListedServer;

const DEFAULT_PAGE_SIZE: usize = 30;
const MAX_PAGE_SIZE: usize = 100;

/// Returns the status and the JSON body for a path with its query.
#[must_use]
pub fn answer_registry_request(
    offered: &[RegistryOffer],
    path: &str,
    query: &str,
) -> (u16, String) {
    let mut listed: Vec<ListedServer> = offered.iter().map(RegistryOffer::to_listed).collect();
    listed.sort_by(|a, b| a.server.name.cmp(&b.server.name));
    // Two names in the configuration may be converted to the same one; the first server keeps it.
    listed.dedup_by(|a, b| a.server.name == b.server.name);
    let parts: Vec<String> =
        path.trim_end_matches('/').split('/').skip(1).map(percent_decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (status, body) = match parts.as_slice() {
        ["v0.1", "servers"] => page(&listed, query),
        ["v0.1", "servers", name, "versions"] => versions(&listed, name, None),
        ["v0.1", "servers", name, "versions", version] => versions(&listed, name, Some(version)),
        _ => not_found(),
    };
    (status, body.to_string())
}

fn not_found() -> (u16, Value) {
    (404, json!({"error": "not found"}))
}

fn page(listed: &[ListedServer], query: &str) -> (u16, Value) {
    let value = |name: &str| {
        let pair =
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        pair.map(|(_, value)| percent_decode(&value.replace('+', " ")))
    };
    let limit = match value("limit").map(|limit| limit.parse::<usize>()) {
        None => DEFAULT_PAGE_SIZE,
        Some(Ok(limit @ 1..)) => limit.min(MAX_PAGE_SIZE),
        Some(_) => return (400, json!({"error": "`limit` must be a positive number"})),
    };
    let search = value("search").unwrap_or_default().to_lowercase();
    // The cursor is the last name of a page, so it stays valid when servers come and go.
    let after = value("cursor").unwrap_or_default();
    let version = value("version").filter(|version| version != "latest");
    let fits = |one: &&ListedServer| {
        one.server.name.to_lowercase().contains(&search)
            && one.server.name > after
            && version.as_deref().is_none_or(|version| one.server.version() == Some(version))
    };
    let mut wanted = listed.iter().filter(fits);
    let servers: Vec<&ListedServer> = wanted.by_ref().take(limit).collect();
    let last = servers.last().map(|one| one.server.name.clone());
    // Only if another server follows: clients request a page for every cursor.
    let next = wanted.next().and(last);
    let servers: Vec<Value> = servers.into_iter().map(to_json).collect();
    (200, json!({"servers": servers, "metadata": {"count": servers.len(), "nextCursor": next}}))
}

fn versions(listed: &[ListedServer], name: &str, version: Option<&str>) -> (u16, Value) {
    let Some(one) = listed.iter().find(|one| one.server.name == name) else { return not_found() };
    match version {
        None => (200, json!({"servers": [to_json(one)], "metadata": {"count": 1}})),
        Some("latest") => (200, to_json(one)),
        Some(version) if one.server.version() == Some(version) => (200, to_json(one)),
        Some(_) => not_found(),
    }
}

fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offers::OfferTransport;
    use crate::server_json::ListingPage;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn command(id: &str, words: &[&str]) -> RegistryOffer {
        let (first, rest) = words.split_first().unwrap();
        let command = (*first).to_owned();
        let args = texts(rest);
        let how = OfferTransport::Command { command, args, variables: texts(&["API_KEY"]) };
        RegistryOffer { id: id.to_owned(), title: None, version: None, how }
    }

    fn remote(id: &str, url: &str) -> RegistryOffer {
        let how = OfferTransport::Remote {
            kind: "streamable-http",
            url: url.to_owned(),
            headers: texts(&["Authorization"]),
        };
        RegistryOffer { id: id.to_owned(), title: None, version: Some("2.0.0".to_owned()), how }
    }

    #[test]
    fn pages_lead_to_each_other_and_end() {
        let offered: Vec<RegistryOffer> =
            (0..5).map(|n| remote(&format!("s{n}"), "https://a.example/mcp")).collect();
        let mut cursor = String::new();
        let mut names = Vec::new();
        for _ in 0..5 {
            let (status, body) = answer_registry_request(
                &offered,
                "/v0.1/servers",
                &format!("limit=2&cursor={cursor}"),
            );
            assert_eq!(status, 200);
            let page = ListingPage::read(body.as_bytes()).unwrap();
            names.extend(page.servers.into_iter().map(|one| one.server.name));
            match page.next {
                Some(next) => cursor = next.replace('/', "%2F"),
                None => break,
            }
        }
        let expected: Vec<String> = (0..5).map(|n| format!("local.switchboard/s{n}")).collect();
        assert_eq!(names, expected);
        assert_eq!(answer_registry_request(&offered, "/v0.1/servers", "limit=none").0, 400);
        let (_, found) =
            answer_registry_request(&offered, "/v0.1/servers", "search=S3&version=latest");
        assert_eq!(ListingPage::read(found.as_bytes()).unwrap().servers.len(), 1);
    }

    #[test]
    fn one_server_is_found_by_its_name_and_version() {
        let offered = [remote("a", "https://a.example/mcp")];
        for (path, expected) in [
            ("/v0.1/servers/local.switchboard%2Fa/versions", 200),
            ("/v0.1/servers/local.switchboard%2Fa/versions/latest", 200),
            ("/v0.1/servers/local.switchboard%2Fa/versions/2.0.0", 200),
            ("/v0.1/servers/local.switchboard%2Fa/versions/1.0.0", 404),
            ("/v0.1/servers/local.switchboard%2Fb/versions", 404),
            ("/v0.1/servers/local.switchboard/a/versions", 404),
            ("/v0.1/publish", 404),
            ("/v0.1/servers/%/versions", 404),
        ] {
            assert_eq!(answer_registry_request(&offered, path, "").0, expected, "{path}");
        }
    }

    #[test]
    fn no_value_of_a_configuration_is_told() {
        let secret = "s3cret-value";
        let offered = [
            command(
                "npm",
                &["npx", "-y", "@a/b@1.2.3", "--token", secret, secret, &format!("--key={secret}")],
            ),
            command(
                "docker",
                &[
                    "docker",
                    "run",
                    "-i",
                    "--rm",
                    "-e",
                    &format!("KEY={secret}"),
                    "a/b:1.0.0",
                    secret,
                ],
            ),
            command("own", &["/opt/x/server", secret]),
            remote("query", &format!("https://a.example/mcp?key={secret}")),
            remote("user", &format!("https://me:{secret}@a.example/mcp")),
            remote("path", &format!("https://a.example/s/{secret}0123456789/mcp")),
        ];
        let (_, body) = answer_registry_request(&offered, "/v0.1/servers", "");
        assert!(!body.contains(secret), "{body}");
        assert!(!body.contains("/opt/x"), "{body}");
        let page = ListingPage::read(body.as_bytes()).unwrap();
        let of = |name: &str| {
            let wanted = format!("local.switchboard/{name}");
            page.servers.iter().find(|one| one.server.name == wanted).unwrap().server.clone()
        };
        let npm = &of("npm").packages[0];
        assert_eq!((npm.identifier.as_str(), npm.version.as_deref()), ("@a/b", Some("1.2.3")));
        let names: Vec<_> = npm
            .package_arguments
            .iter()
            .map(|one| one.name.as_deref().or(one.value_hint.as_deref()))
            .collect();
        assert_eq!(names, [Some("--token"), Some("argument-3"), Some("--key")]);
        assert_eq!(of("docker").packages[0].identifier, "a/b:1.0.0");
        assert_eq!(of("own").packages, []);
        assert_eq!(of("query").remotes[0].url, "https://a.example/mcp");
        assert_eq!(of("path").remotes[0].url, "https://a.example/{path}");
    }
}
