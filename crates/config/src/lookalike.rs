//! Detection of server names that a reader confuses with another server or a reserved name.

use std::collections::BTreeMap;

use switchboard_core::ServerId;
use switchboard_document::ConfigError;
use switchboard_text::{differs_in_separators, fold_char, is_near, sanitize};
use switchboard_vetting::EntryFinding;

use crate::resolved::{BUILTIN, Config, ConfigLayer, ServerConfig};

/// Names that rules, prompts and messages use for Switchboard itself.
const RESERVED_NAMES: [&str; 3] = [BUILTIN, "switchboard", "system"];

/// Breaks every server whose name is confusable with an earlier one, and adds a finding to those
/// whose name is similar to an earlier one.
pub(crate) fn refuse_lookalikes(config: &mut Config, order: &[ServerId]) {
    // The built-in server comes first and entries of a project last: a cloned repository must not
    // be able to break a server of the user.
    let mut servers: Vec<&ServerConfig> = config.servers.values().collect();
    servers.sort_by_key(|server| {
        let place = order.iter().position(|id| *id == server.id);
        (server.id.as_str() != BUILTIN, server.source.layer == ConfigLayer::Project, place)
    });
    let mut known: BTreeMap<String, &ServerId> = BTreeMap::new();
    let mut refused = Vec::new();
    let mut marked = Vec::new();
    for server in servers {
        let name = server.id.as_str();
        let looks = skeletons(name);
        let other = looks.iter().find_map(|look| known.get(look)).map(|other| other.as_str());
        if let Some(problem) = conflict_with(name, other) {
            let mut error = ConfigError::new(server.source.file.as_path(), problem).server(name);
            error.line = Some(server.source.line);
            refused.push((server.id.clone(), error.hint("give it another name")));
        } else {
            let near = |other: &&&ServerId| {
                is_near(name, other.as_str()) || differs_in_separators(name, other.as_str())
            };
            if let Some(other) = known.values().find(near) {
                marked.push((server.id.clone(), near_name_finding(other)));
            }
            known.extend(looks.map(|look| (look, &server.id)));
        }
    }
    for (id, finding) in marked {
        config.servers.entry(id).and_modify(|server| server.findings.push(finding));
    }
    for (id, error) in refused {
        config.servers.remove(&id);
        config.broken.insert(id, error);
    }
}

fn near_name_finding(other: &ServerId) -> EntryFinding {
    let message = format!("its name is similar to that of server `{}`", sanitize(other.as_str()));
    EntryFinding::note("lookalike", message)
}

/// Returns why a name conflicts with the given others or with a reserved name.
pub(crate) fn conflict<'a>(
    name: &str,
    others: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let other = others.into_iter().find(|other| *other != name && is_confusable(other, name));
    conflict_with(name, other)
}

fn conflict_with(name: &str, other: Option<&str>) -> Option<String> {
    if let Some(other) = other {
        return Some(format!("its name is confusable with that of server `{}`", sanitize(other)));
    }
    let ours = RESERVED_NAMES.iter().find(|ours| is_confusable(ours, name))?;
    (name != BUILTIN).then(|| format!("its name is confusable with the reserved name `{ours}`"))
}

fn is_confusable(one: &str, other: &str) -> bool {
    let others = skeletons(other);
    skeletons(one).iter().any(|look| others.contains(look))
}

/// Returns the skeletons of a name, in which confusable names are equal.
fn skeletons(name: &str) -> [String; 2] {
    // There are two, because a `1` may be read as `l` or `i`.
    ['l', 'i'].map(|one| {
        let seen = name.chars().filter_map(fold_char).filter(|c| !c.is_whitespace());
        let seen = seen.map(|c| match c {
            '-' | '.' => '_',
            // Readers do not distinguish these digits from the letters.
            '0' => 'o',
            '1' | '|' => one,
            _ => c,
        });
        let words: String = seen.collect();
        let words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
        words.join("_")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_nothing_that_is_seen_are_alike() {
        for other in
            ["GitHub", "g1thub", "github.", "_github-", "ｇithub", "gіthub", "git\u{200b}hub"]
        {
            assert!(is_confusable("github", other), "{other}");
        }
        assert!(is_confusable("a.b", "a--b") && is_confusable("mai1", "mail"));
        for other in ["github2", "git", "gitlab", "git-hub", "srv-1-1"] {
            assert!(!is_confusable("github", other), "{other}");
        }
        assert!(!is_confusable("srv-1-1", "srv-11") && !is_confusable("a-1", "a-2"));
        assert!(conflict("Bui1tin", []).is_some() && conflict("sw1tchboard", []).is_some());
    }
}
