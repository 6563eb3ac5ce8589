//! Views of callers with a JWT, selected by its claims.

use std::collections::BTreeMap;

use switchboard_config::ViewKey;
use switchboard_rules::Pattern;

use crate::access::View;
use crate::jwt::Claims;

/// Patterns of visible targets by subject, client or scope.
pub(crate) struct Views(BTreeMap<ViewKey, Vec<String>>);

impl Views {
    pub(crate) const fn new(by: BTreeMap<ViewKey, Vec<String>>) -> Self {
        Self(by)
    }

    /// Returns the union of the views of the subject, the client and the scopes, or else the view
    /// of all others. Returns `None` if the caller sees nothing.
    pub(crate) fn view_for(&self, claims: &Claims) -> Option<View> {
        let applies = |key: &ViewKey| match key {
            ViewKey::Subject(subject) => Some(subject) == claims.subject.as_ref(),
            ViewKey::Client(client) => Some(client) == claims.client.as_ref(),
            ViewKey::Scope(scope) => claims.scopes.contains(scope),
            ViewKey::Others => false,
        };
        let own: Vec<&Vec<String>> =
            self.0.iter().filter(|(key, _)| applies(key)).map(|(_, patterns)| patterns).collect();
        let given = match own.as_slice() {
            [] => self.0.get(&ViewKey::Others).into_iter().flatten().collect(),
            own => own.iter().copied().flatten().collect::<Vec<_>>(),
        };
        let patterns: Vec<Pattern> = given.iter().map(|text| Pattern::new(text)).collect();
        // A view without patterns shows everything, so an empty union must not become one.
        (!patterns.is_empty()).then_some(View { patterns })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use switchboard_config::ViewKey;

    use super::Views;
    use crate::jwt::Claims;

    #[test]
    fn a_caller_sees_what_its_token_is_given_and_nothing_else() {
        let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut views = BTreeMap::from([
            (ViewKey::Subject("ada".to_owned()), words(&["files"])),
            (ViewKey::Client("ci".to_owned()), words(&["build/*"])),
            (ViewKey::Scope("read".to_owned()), words(&["*/get_*"])),
            (ViewKey::Subject("eve".to_owned()), words(&[])),
            (ViewKey::Others, words(&["time"])),
        ]);
        let seen = |views: &BTreeMap<ViewKey, Vec<String>>, subject: &str, client, scope: &str| {
            let scopes = vec![scope.to_owned()];
            let subject = Some(subject.to_owned()).filter(|subject| !subject.is_empty());
            let claims = Claims { subject, client, scopes, expires_at: 0 };
            Views::new(views.clone()).view_for(&claims).map(|view| view.key())
        };
        let ci = || Some("ci".to_owned());
        for (subject, client, scope, expected) in [
            ("ada", None, "tools", Some("files")),
            ("ada", ci(), "tools", Some("files\nbuild/*")),
            ("ada", ci(), "read", Some("files\nbuild/*\n*/get_*")),
            ("bob", None, "read", Some("*/get_*")),
            ("bob", None, "tools", Some("time")),
            ("ci", None, "tools", Some("time")),
            // A client with the name of a user is not that user.
            ("", Some("ada".to_owned()), "tools", Some("time")),
            ("eve", None, "tools", None),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(seen(&views, subject, client, scope), expected, "{subject} {scope}");
        }
        views.remove(&ViewKey::Others);
        assert_eq!(seen(&views, "bob", None, "tools"), None);
    }
}
