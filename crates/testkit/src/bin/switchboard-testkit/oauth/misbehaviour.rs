//! What the server may be told to do wrong, one thing at a time.

/// Every name with what it does; most take a URL by `--value`, in which `{origin}` stands for the
/// server's own address and `{sink}` for the listener that nobody may reach, with the port
/// `{sink-port}`.
pub(crate) const MISBEHAVIOURS: &[(&str, &str)] = &[
    ("wrong-iss", "the callback's `iss` is --value (https://evil.example)"),
    ("no-iss", "the callback lacks the `iss` that the metadata promises"),
    ("wrong-state", "the callback has another `state`"),
    ("no-state", "the callback has no `state`"),
    ("script-in-error", "the callback is an error whose description is a script"),
    ("challenge-metadata", "the 401 names --value as its `resource_metadata`"),
    ("challenge-junk", "the 401 has --value as its whole challenge"),
    ("prm-redirect", "the resource metadata is a redirect to --value"),
    ("as-redirect", "the authorization server's metadata is a redirect to --value"),
    ("register-redirect", "registration answers with a redirect to --value"),
    ("token-redirect", "the token endpoint answers with a redirect to --value"),
    ("mcp-redirect", "an authorized MCP request is redirected to --value"),
    ("huge-metadata", "the resource metadata has 8 MiB"),
    ("huge-token", "the token answer has 8 MiB"),
    ("slow-metadata", "the authorization server's metadata never comes"),
    ("slow-token", "the token answer never comes"),
    ("echo-bait", "metadata requests fail with a body that must not be repeated"),
    ("refresh-refused", "every refresh is refused with `invalid_grant`"),
    ("refresh-broken", "every refresh fails with status 500"),
    ("always-401", "no token is ever good enough"),
    ("always-403", "no scope is ever enough"),
    ("strange-token-type", "tokens are not bearer tokens"),
    ("links", "metadata, registrations and tools are full of links to the sink"),
];

/// One of the names above with its value.
#[derive(Debug)]
pub(crate) struct Misbehaviour {
    name: &'static str,
    value: Option<String>,
}

impl Misbehaviour {
    pub(crate) fn from_name(name: &str, value: Option<&str>) -> Self {
        let known = MISBEHAVIOURS.iter().find(|(known, _)| *known == name);
        let Some((name, _)) = known else { panic!("unknown misbehaviour `{name}`") };
        Self { name, value: value.map(str::to_owned) }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        debug_assert!(MISBEHAVIOURS.iter().any(|(known, _)| *known == name), "{name}");
        self.name == name
    }

    pub(crate) fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}
