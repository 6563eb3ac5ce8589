//! The `oauth` section of a server entry: client registration, scopes and grant type.

use std::fmt;

use switchboard_document::{ConfigError, Node};
use switchboard_net::check_url;

use crate::reader::ConfigReader;

const KEYS: &[&str] =
    &["clientId", "clientSecret", "clientMetadataUrl", "issuer", "scopes", "callbackPort", "grant"];

/// The login settings of a server; absent ones are discovered.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OauthSettings {
    /// The id of a client that was registered manually.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// URL of the client id metadata document, which is also the client id.
    pub client_metadata_url: Option<String>,
    /// The only authorization server that may receive the client id and secret.
    pub issuer: Option<String>,
    /// The scopes to request, instead of those that the server advertises.
    pub scopes: Vec<String>,
    /// The port of the redirect URI; `None` means any free port.
    pub callback_port: Option<u16>,
    pub grant: GrantType,
}

/// The OAuth grant that obtains a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrantType {
    /// A person consents in a browser.
    #[default]
    AuthorizationCode,
    /// The client authenticates with its own secret.
    ClientCredentials,
}

// Prints everything but the client secret, which must not appear in logs.
impl fmt::Debug for OauthSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OauthSettings")
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .field("client_metadata_url", &self.client_metadata_url)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .field("callback_port", &self.callback_port)
            .field("grant", &self.grant)
            .finish()
    }
}

pub(crate) fn read(
    reader: &mut ConfigReader<'_>,
    node: &Node,
) -> Result<OauthSettings, ConfigError> {
    let members = reader.members(node, "oauth")?;
    reader.warn_unknown(members, "oauth.", KEYS);
    let mut settings = OauthSettings::default();
    for member in members.iter().filter(|member| !member.value.is_null()) {
        let node = &member.value;
        let key = &format!("oauth.{}", member.name);
        match member.name.as_str() {
            "clientId" => settings.client_id = Some(read_word(reader, node, key)?),
            "clientSecret" => settings.client_secret = Some(read_word(reader, node, key)?),
            "clientMetadataUrl" => {
                let address = read_word(reader, node, key)?;
                check_url(&address).map_err(|wrong| reader.key_error(node.at, key, wrong))?;
                // The specification of client id metadata documents requires HTTPS.
                if !address.starts_with("https://") {
                    return Err(reader.key_error(node.at, key, "must begin with `https://`"));
                }
                settings.client_metadata_url = Some(address);
            }
            "issuer" => settings.issuer = Some(read_word(reader, node, key)?),
            "scopes" => {
                settings.scopes = reader.texts(node, key)?;
                if settings.scopes.iter().any(|scope| !is_scope(scope)) {
                    return Err(reader.key_error(node.at, key, "contains an invalid scope"));
                }
            }
            "callbackPort" => {
                let port = reader.count(node, key, 1..=65_535)?;
                // The range makes the conversion infallible.
                settings.callback_port = u16::try_from(port).ok();
            }
            "grant" => {
                let choices = [
                    ("authorization_code", GrantType::AuthorizationCode),
                    ("client_credentials", GrantType::ClientCredentials),
                ];
                settings.grant = reader.choice(node, key, &choices)?;
            }
            _ => {}
        }
    }
    let alone = settings.client_secret.is_some() && settings.client_id.is_none();
    let secretless = settings.grant == GrantType::ClientCredentials
        && (settings.client_id.is_none() || settings.client_secret.is_none());
    if alone || secretless {
        let what = "needs `clientId` and `clientSecret` together";
        return Err(reader.key_error(node.at, "oauth", what));
    }
    Ok(settings)
}

/// Returns whether a text is a valid scope: printable ASCII without spaces, quotes and backslashes.
pub fn is_scope(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 256
        && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

fn read_word(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<String, ConfigError> {
    let text = reader.system_text(node, key)?;
    if text.trim().is_empty() {
        return Err(reader.key_error(node.at, key, "is empty"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::load;
    use crate::load::NoConsents;
    use crate::places::Places;
    use crate::resolved::Config;

    fn load_oauth(oauth: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let text = format!(
            r#"{{"mcpServers": {{"it": {{"url": "https://a.example", "oauth": {oauth}}}}}}}"#
        );
        std::fs::write(&file, text).unwrap();
        let state = folder.path().to_owned();
        let places = Places { explicit: vec![file], ..Places::without_files(state) };
        let variables = [("SECRET".to_owned(), "hunter2".to_owned())].into();
        let current_dir = folder.path().to_owned();
        let environment = Environment { variables, home: None, current_dir };
        load(&places, &environment, &NoConsents)
    }

    #[test]
    fn an_entry_says_as_whom_to_log_in_and_its_secret_is_not_printed() {
        let config = load_oauth(
            r#"{"clientId": "c", "clientSecret": "${env:SECRET}", "issuer": "https://b.example",
                "clientMetadataUrl": "https://a.example/client.json", "scopes": ["a", "b:c"],
                "callbackPort": 8080, "grant": "client_credentials"}"#,
        );
        let read = &config.servers["it"].oauth;
        let expected = OauthSettings {
            client_id: Some("c".to_owned()),
            client_secret: Some("hunter2".to_owned()),
            client_metadata_url: Some("https://a.example/client.json".to_owned()),
            issuer: Some("https://b.example".to_owned()),
            scopes: vec!["a".to_owned(), "b:c".to_owned()],
            callback_port: Some(8080),
            grant: GrantType::ClientCredentials,
        };
        assert_eq!(*read, expected);
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        for (oauth, key) in [
            (r#"[]"#, "oauth"),
            (r#"{"clientSecret": "s"}"#, "oauth"),
            (r#"{"grant": "client_credentials"}"#, "oauth"),
            (r#"{"grant": "password"}"#, "oauth.grant"),
            (r#"{"clientId": " "}"#, "oauth.clientId"),
            (r#"{"clientMetadataUrl": "http://a.example/x"}"#, "oauth.clientMetadataUrl"),
            (r#"{"scopes": ["a b"]}"#, "oauth.scopes"),
            (r#"{"callbackPort": 70000}"#, "oauth.callbackPort"),
        ] {
            let config = load_oauth(oauth);
            let error = config.broken.get("it").unwrap_or_else(|| panic!("{oauth}"));
            assert_eq!(error.key.as_deref(), Some(key), "{oauth}: {error}");
        }
    }

    #[test]
    fn another_secret_is_another_server() {
        let key = |secret: &str| {
            let oauth = format!(r#"{{"clientId": "c", "clientSecret": "{secret}"}}"#);
            load_oauth(&oauth).servers["it"].restart_key()
        };
        assert_eq!(key("a"), key("a"));
        assert_ne!(key("a"), key("b"));
    }
}
