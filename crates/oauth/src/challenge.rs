//! Parses the parameters of `WWW-Authenticate: Bearer`.

use switchboard_config::is_scope;

/// The challenge with which a server rejects a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// URL of the protected-resource metadata.
    pub resource_metadata: Option<String>,
    /// Scopes that the request requires.
    pub scopes: Vec<String>,
    pub error: Option<String>,
}

impl Challenge {
    /// Parses the value of `WWW-Authenticate` and ignores unknown parameters.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        let mut challenge = Self::default();
        let mut in_bearer = false;
        for part in split_parameters(value) {
            let Some((name, text)) = part.split_once('=') else {
                in_bearer = part.trim().eq_ignore_ascii_case("bearer");
                continue;
            };
            // The scheme precedes the first of its parameters.
            let name = match name.trim().split_once(char::is_whitespace) {
                Some((scheme, name)) => {
                    in_bearer = scheme.eq_ignore_ascii_case("bearer");
                    name.trim()
                }
                None => name.trim(),
            };
            if in_bearer {
                challenge.set_parameter(name, unquote(text.trim()));
            }
        }
        challenge
    }

    /// Returns whether the token is valid but lacks scopes.
    #[must_use]
    pub fn needs_more_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Returns a hint with the login command.
    #[must_use]
    pub fn login_hint(&self, server: &str) -> String {
        if !self.needs_more_scope() || self.scopes.is_empty() {
            return format!("log in with `switchboard login {server}`");
        }
        let scopes = self.scopes.iter().map(|scope| format!(" --scope {scope}"));
        let scopes = scopes.collect::<String>();
        format!("request more scopes with `switchboard login {server}{scopes}`")
    }

    fn set_parameter(&mut self, name: &str, value: String) {
        if name.eq_ignore_ascii_case("resource_metadata") {
            self.resource_metadata.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("scope") {
            // The scopes become part of a command in the hint, and of a URL.
            let scopes = value.split(' ').filter(|scope| is_scope(scope)).take(100);
            self.scopes = scopes.map(str::to_owned).collect();
        } else if name.eq_ignore_ascii_case("error") {
            self.error.get_or_insert(value);
        }
    }
}

/// Splits a header value at the commas outside quotes.
fn split_parameters(value: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut escaped = false;
    for character in value.chars() {
        if character == ',' && !quoted {
            parts.push(String::new());
            continue;
        }
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && character == '\\' && !escaped;
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    parts
}

fn unquote(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut plain = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    fn challenge(metadata: Option<&str>, scopes: &[&str], error: Option<&str>) -> Challenge {
        Challenge {
            resource_metadata: metadata.map(str::to_owned),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn the_parameters_of_bearer_are_found() {
        let address = "https://a.example/.well-known/oauth-protected-resource";
        let cases = [
            ("Bearer", challenge(None, &[], None)),
            (
                r#"Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource", scope="a b", error="insufficient_scope""#,
                challenge(Some(address), &["a", "b"], Some("insufficient_scope")),
            ),
            (
                r#"bearer scope=one, error=invalid_token"#,
                challenge(None, &["one"], Some("invalid_token")),
            ),
            (
                r#"Basic realm="x, y", Bearer error_description="a, \"b\" = c", scope="s""#,
                challenge(None, &["s"], None),
            ),
            (r#"Bearer scope="s", Basic scope="t", realm="z""#, challenge(None, &["s"], None)),
            ("nonsense ,,, = ,", challenge(None, &[], None)),
            ("Bearer scope=\"a \u{7f} b\\\\\"", challenge(None, &["a"], None)),
        ];
        for (value, expected) in cases {
            assert_eq!(Challenge::parse(value), expected, "{value}");
        }
    }
}
