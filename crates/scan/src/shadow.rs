//! Shadowing: definitions that mention other servers' tools, and names that imitate them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use foldhash::HashMap;
use switchboard_text::{fold_char, is_near, near_keys};

use crate::finding::{Indicator, ScanFinding, offset_in};
use crate::tokens::skeleton;

// Shorter names may be ordinary words.
const MIN_NAME_LEN: usize = 6;

/// The names of all servers and tools. A name that several servers use is stored once.
#[derive(Debug, Default)]
pub struct KnownNames {
    /// The servers that have a tool, by lower-case name.
    tools: HashMap<String, BTreeSet<String>>,
    /// The users of each tool name, by skeleton and name.
    looks: HashMap<String, BTreeMap<String, BTreeSet<String>>>,
    servers: HashMap<String, String>,
    distinct: Vec<String>,
    /// Hashed near-name keys, sorted, with an index into `distinct`.
    traces: Vec<(u64, usize)>,
}

impl KnownNames {
    /// Collects the names of tools, given as server, tool and the words of its definition.
    #[must_use]
    pub fn new<'a>(
        tools: impl IntoIterator<Item = (&'a str, &'a str, &'a DefinitionWords)>,
    ) -> Self {
        let mut names = Self::default();
        for (server, tool, words) in tools {
            names.servers.entry(server.to_lowercase()).or_insert_with(|| server.to_owned());
            names.tools.entry(tool.to_lowercase()).or_default().insert(server.to_owned());
            let seen = names.looks.entry(name_skeleton(tool)).or_default();
            let users = seen.entry(tool.to_owned()).or_default();
            if users.is_empty() {
                let place = names.distinct.len();
                names.traces.extend(words.traces.iter().map(|trace| (*trace, place)));
                names.distinct.push(tool.to_owned());
            }
            users.insert(server.to_owned());
        }
        names.traces.sort_unstable();
        names
    }

    /// Returns the names with the same skeleton, and the servers that use them.
    fn lookalikes(&self, tool: &str) -> impl Iterator<Item = (&String, &BTreeSet<String>)> {
        self.looks.get(&name_skeleton(tool)).into_iter().flatten()
    }

    /// Returns whether another server has a tool of this name, regardless of case and separators.
    fn is_shared(&self, server: &str, tool: &str) -> bool {
        let is_same = |name: &str| name == tool || name_letters(name).eq(name_letters(tool));
        self.lookalikes(tool)
            .any(|(name, users)| other_than(server, users).is_some() && is_same(name))
    }

    /// Returns another server's tool that this name imitates by replacing letters with digits.
    fn digit_lookalike(&self, server: &str, tool: &str) -> Option<(&str, &str)> {
        let digits = |name: &str| name.bytes().filter(u8::is_ascii_digit).count();
        self.lookalikes(tool).find_map(|(name, users)| {
            let is_meant = name.is_ascii() && tool.is_ascii() && digits(name) < digits(tool);
            Some((other_than(server, users).filter(|_| is_meant)?, name.as_str()))
        })
    }

    /// Returns a tool with another name but the same skeleton.
    fn homoglyph_twin(&self, tool: &str) -> Option<(&str, &str)> {
        let (name, users) = self.lookalikes(tool).find(|(name, _)| *name != tool)?;
        Some((users.first()?, name))
    }

    /// Returns another server's tool whose name is a single edit away from this one.
    fn near_miss(&self, server: &str, tool: &str, traces: &[u64]) -> Option<(&str, &str)> {
        let with_trace = |wanted: &u64| {
            let wanted = *wanted;
            let from = self.traces.partition_point(|(trace, _)| *trace < wanted);
            let same = self.traces.iter().skip(from).take_while(move |(trace, _)| *trace == wanted);
            same.filter_map(|(_, place)| self.distinct.get(*place))
        };
        traces.iter().flat_map(with_trace).find_map(|name| {
            let users = self.looks.get(&name_skeleton(name))?.get(name);
            let users = users.filter(|_| name != tool && is_near(name, tool))?;
            Some((other_than(server, users)?, name.as_str()))
        })
    }

    /// Returns the other server whose prefix the name of a tool carries.
    fn forged_prefix(&self, server: &str, tool: &str) -> Option<&str> {
        let (prefix, _) = tool.split_once("__")?;
        let other = self.servers.get(&prefix.to_lowercase())?;
        (other != server).then_some(other)
    }

    fn mention_points(&self, server: &str, word: &str) -> Option<u32> {
        for separator in ["__", "/", ".", ":", "::"] {
            if let Some((first, tool)) = word.split_once(separator)
                && let Some(other) = self.servers.get(first)
                && other != server
                && self.tools.get(tool).is_some_and(|servers| servers.contains(other))
            {
                // With the server's name, a mention is not a coincidence.
                return Some(6);
            }
        }
        let servers = self.tools.get(word).filter(|_| is_distinctive(word))?;
        (!servers.contains(server)).then_some(3)
    }
}

fn other_than<'a>(server: &str, users: &'a BTreeSet<String>) -> Option<&'a str> {
    users.iter().map(String::as_str).find(|user| *user != server)
}

fn is_distinctive(word: &str) -> bool {
    word.len() >= MIN_NAME_LEN && word.contains(['_', '-'])
}

/// The parts of a definition that are compared with other servers' tools, and can be cached.
#[derive(Debug, Default)]
pub struct DefinitionWords {
    mentions: Box<[Mention]>,
    /// Hashed near-name keys of the tool's own name.
    traces: Box<[u64]>,
}

// A word that may be the name of a tool, in lower case.
#[derive(Debug)]
struct Mention {
    at: usize,
    word: Box<str>,
}

impl DefinitionWords {
    /// Extracts the words of a definition. `tool` is the name of a defined tool.
    #[must_use]
    pub fn new(tool: Option<&str>, raw: &str) -> Self {
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
        let mentions = raw.split(|c| !in_name(c)).filter_map(|word| {
            let at = offset_in(raw, word);
            let word = word.trim_matches(['.', '/', ':', '-']);
            let has_server = word.contains(['.', '/', ':']) || word.contains("__");
            let may_be_meant = has_server || is_distinctive(word);
            may_be_meant.then(|| Mention { at, word: word.to_lowercase().into() })
        });
        let traces = tool.map(near_keys).unwrap_or_default();
        let traces = traces.iter().map(|trace| short_hash(trace)).collect();
        Self { mentions: mentions.collect(), traces }
    }
}

// Collisions are harmless, because matches are compared again.
fn short_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Finds shadowing: a name that imitates another server's tool, or a text that mentions one.
#[must_use]
pub fn find_shadowing(
    names: &KnownNames,
    server: &str,
    tool: Option<&str>,
    raw: &str,
    words: &DefinitionWords,
) -> Vec<ScanFinding> {
    let mut findings = Vec::new();
    if let Some(tool) = tool {
        if names.forged_prefix(server, tool).is_some() {
            findings.push(Indicator::new("forged_prefix", 6, 0).into_finding("/name", tool));
        }
        let twin = names.homoglyph_twin(tool).filter(|_| !tool.is_ascii());
        let twin = twin.or_else(|| names.digit_lookalike(server, tool));
        let twin = twin.or_else(|| names.near_miss(server, tool, &words.traces));
        if let Some((other, twin)) = twin {
            let decoded = Some(format!("looks like `{twin}` of `{other}`"));
            let sign = Indicator { decoded, ..Indicator::new("lookalike_name", 6, 0) };
            findings.push(sign.into_finding("/name", tool));
        }
        // Without points: many servers legitimately have a tool named `search`.
        if names.is_shared(server, tool) {
            findings.push(Indicator::new("same_name", 0, 0).into_finding("/name", tool));
        }
    }
    let mut best: Option<(usize, u32)> = None;
    for Mention { at, word } in &words.mentions {
        let points = names.mention_points(server, word).unwrap_or(0);
        if points > best.map_or(0, |(_, points)| points) {
            best = Some((*at, points));
        }
    }
    if let Some((at, points)) = best {
        findings.push(Indicator::new("other_servers_tool", points, at).into_finding("", raw));
    }
    findings
}

/// Returns a name with homoglyphs, case and leetspeak folded, without separators.
fn name_skeleton(name: &str) -> String {
    let seen = name.chars().filter_map(fold_char);
    seen.filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).map(skeleton).collect()
}

/// Returns the characters of a name in lower case, without separators.
fn name_letters(name: &str) -> impl Iterator<Item = char> {
    let joins = |c: &char| matches!(c, '_' | '-' | ' ' | '.');
    name.chars().filter(move |c| !joins(c)).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[(&str, &str)]) -> KnownNames {
        let words: Vec<DefinitionWords> =
            tools.iter().map(|(_, tool)| DefinitionWords::new(Some(tool), "")).collect();
        KnownNames::new(
            tools.iter().zip(&words).map(|((server, tool), words)| (*server, *tool, words)),
        )
    }

    fn found_rules(
        names: &KnownNames,
        server: &str,
        tool: &str,
        text: &str,
    ) -> Vec<(&'static str, u32)> {
        let words = DefinitionWords::new(Some(tool), text);
        let found = find_shadowing(names, server, Some(tool), text, &words);
        found.iter().map(|finding| (finding.rule, finding.points)).collect()
    }

    #[test]
    fn another_servers_tool_is_known_by_its_name() {
        let all = names(&[("mail", "send_email"), ("evil", "weather"), ("evil", "get_weather")]);
        let rules = |tool: &str, text: &str| found_rules(&all, "evil", tool, text);
        assert_eq!(rules("weather", "via mail.send_email"), [("other_servers_tool", 6)]);
        assert_eq!(rules("weather", "then call send_email."), [("other_servers_tool", 3)]);
        assert_eq!(rules("weather", "use get_weather first; sends mail"), []);
        assert_eq!(rules("mail__send_email", ""), [("forged_prefix", 6)]);
        assert_eq!(rules("send_emаil", ""), [("lookalike_name", 6)]);
        for same in ["send_email", "sendEmail", "Send-Email", "send.email"] {
            assert_eq!(rules(same, ""), [("same_name", 0)], "{same}");
        }
        assert_eq!(rules("send_emai1", ""), [("lookalike_name", 6)]);
        assert_eq!(rules("s3nd_email", ""), [("lookalike_name", 6)]);
        assert_eq!(rules("send_email2", ""), []);
        for near in ["send_emall", "send_emaill", "sned_email", "sendEmial"] {
            let expected =
                if near.starts_with("sned") { vec![] } else { vec![("lookalike_name", 6)] };
            assert_eq!(rules(near, ""), expected, "{near}");
        }
        for other in ["send_emails", "send_mail", "read_email"] {
            assert_eq!(rules(other, ""), [], "{other}");
        }
        // The name with the original letters is the one that is imitated.
        let all = names(&[("mail", "send_email"), ("evil", "send_emai1")]);
        assert_eq!(found_rules(&all, "mail", "send_email", ""), []);
        // A name that several servers use is compared with each other server's.
        let all = names(&[("a", "send_email"), ("b", "send_email"), ("c", "send_emall")]);
        assert_eq!(
            found_rules(&all, "a", "send_email", ""),
            [("lookalike_name", 6), ("same_name", 0)]
        );
        assert_eq!(found_rules(&all, "c", "send_emall", ""), [("lookalike_name", 6)]);
    }
}
