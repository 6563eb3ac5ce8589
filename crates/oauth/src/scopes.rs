//! Chooses the scopes to request.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScopeSources<'a> {
    /// Scopes from the configuration or the command line.
    pub(crate) named: &'a [String],
    /// Scopes in the server's challenge.
    pub(crate) challenged: &'a [String],
    /// Scopes in the protected-resource metadata.
    pub(crate) resource_scopes: &'a [String],
    /// Scopes in the authorization server's metadata.
    pub(crate) issuer_scopes: &'a [String],
    /// Scopes requested at the last login.
    pub(crate) previous: &'a [String],
}

/// The scope that grants a refresh token.
const OFFLINE_ACCESS: &str = "offline_access";

/// Returns the scopes to request; empty leaves the choice to the authorization server.
pub(crate) fn choose_scopes(known: ScopeSources<'_>) -> Vec<String> {
    let first = [known.named, known.challenged, known.resource_scopes].into_iter();
    let wanted = first.filter(|scopes| !scopes.is_empty()).take(1).flatten();
    let mut chosen: Vec<String> = Vec::new();
    // The previous scopes are requested again, because the new token replaces the old one.
    for scope in wanted.chain(known.challenged).chain(known.previous) {
        if scope != OFFLINE_ACCESS && !chosen.contains(scope) {
            chosen.push(scope.clone());
        }
    }
    // An explicit list would otherwise omit it, and the login would end with its first token.
    if !chosen.is_empty() && known.issuer_scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
        chosen.push(OFFLINE_ACCESS.to_owned());
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_challenge_comes_before_the_description_and_nothing_is_lost() {
        // Named, challenged, resource, issuer, previous: chosen.
        let cases = [
            ["", "", "", "", "", ""],
            ["", "a", "b c", "", "", "a"],
            ["", "", "b c", "", "", "b c"],
            ["", "", "", "x offline_access", "", ""],
            ["", "a", "", "x offline_access", "", "a offline_access"],
            ["", "", "b offline_access", "x", "", "b"],
            ["", "w", "", "", "r", "w r"],
            ["n", "w", "s", "", "r", "n w r"],
            ["", "w r", "", "", "r", "w r"],
        ];
        for case in cases {
            let [named, challenged, of_server, of_issuer, before, expected] = case.map(list);
            let known = ScopeSources {
                named: &named,
                challenged: &challenged,
                resource_scopes: &of_server,
                issuer_scopes: &of_issuer,
                previous: &before,
            };
            assert_eq!(choose_scopes(known), expected, "{case:?}");
        }
    }
}
