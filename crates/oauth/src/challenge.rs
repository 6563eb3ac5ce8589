//! What a server says at its door: the parameters of `WWW-Authenticate: Bearer`.

use switchboard_config::is_scope;

/// What a server asks for when it turns a request down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the description of the server is.
    pub resource_metadata: Option<String>,
    /// What the request would have needed.
    pub scopes: Vec<String>,
    /// The code of the reason.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the value of `WWW-Authenticate`; what is not understood is left out.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        let mut challenge = Self::default();
        let mut in_bearer = false;
        for part in split_parameters(value) {
            let Some((name, text)) = part.split_once('=') else {
                in_bearer = part.trim().eq_ignore_ascii_case("bearer");
                continue;
            };
            // A scheme stands before the first of its parameters.
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

    /// Whether the token was right but not enough.
    #[must_use]
    pub fn needs_more_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// The command that gives what is asked for.
    #[must_use]
    pub fn login_hint(&self, server: &str) -> String {
        if !self.needs_more_scope() || self.scopes.is_empty() {
            return format!("`switchboard login {server}` logs in");
        }
        let scopes = self.scopes.iter().map(|scope| format!(" --scope {scope}"));
        format!("`switchboard login {server}{}` asks for more", scopes.collect::<String>())
    }

    fn set_parameter(&mut self, name: &str, value: String) {
        if name.eq_ignore_ascii_case("resource_metadata") {
            self.resource_metadata.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("scope") {
            let scopes = value.split(' ').filter(|scope| is_scope(scope)).take(100);
            self.scopes = scopes.map(str::to_owned).collect();
        } else if name.eq_ignore_ascii_case("error") {
            self.error.get_or_insert(value);
        }
    }
}

/// What stands between the commas, except for commas inside quotes.
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
