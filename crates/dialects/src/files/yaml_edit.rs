//! Edits YAML line by line, so that comments, order and layout of the rest are preserved.

use serde_json::Value;

use crate::files::parsed_file::EntryChange;
use crate::files::yaml_tree::{YamlMapping, YamlMember, YamlNode, parse, plain_scalar};
use crate::note::DialectError;

pub(super) fn change(
    text: &str,
    path: &[&str],
    changes: &[EntryChange],
) -> Result<String, DialectError> {
    let mut text = text.to_owned();
    for change in changes {
        let entry = [path, &[change.key.as_str()]].concat();
        // Parsed anew for each change, since an edit moves the lines below it.
        let there = parse(&text)?;
        let there = there.as_ref().and_then(|root| node_at(root, &entry));
        match there {
            Some(YamlNode::Map(map)) if !map.members.is_empty() => {
                let value = YamlNode::Map(map.clone()).value();
                for (name, wanted) in change.member_changes() {
                    if value.get(name) != wanted {
                        text = set(&text, &entry, name, wanted.map(YamlNode::from).as_ref())?;
                    }
                }
            }
            _ => {
                let members = change.members.iter().map(|(key, value)| (key, value));
                text = set(&text, path, &change.key, Some(&YamlNode::map(members)))?;
            }
        }
    }
    Ok(text)
}

fn node_at<'a>(root: &'a YamlNode, path: &[&str]) -> Option<&'a YamlNode> {
    path.iter().try_fold(root, |node, key| node.member(key).map(|member| &member.value))
}

/// Sets or removes one member of the mapping at `path`.
fn set(
    text: &str,
    path: &[&str],
    key: &str,
    wanted: Option<&YamlNode>,
) -> Result<String, DialectError> {
    let root = parse(text)?;
    let place = root.as_ref().and_then(|root| node_at(root, path));
    let map = match place {
        Some(YamlNode::Map(map)) if !map.flow && !map.members.is_empty() => map,
        None if wanted.is_none() => return Ok(text.to_owned()),
        // A flow mapping or an empty one has no lines of its own to edit.
        other => return replace_whole(text, path, key, wanted, other),
    };
    let limit = mapping_end(root.as_ref(), path, text.split_inclusive('\n').count());
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (start, end) = match map.members.iter().find(|member| member.key == key) {
        Some(member) => {
            (member.line, member_end(&lines, member.line, next_line(map, member).unwrap_or(limit)))
        }
        None => {
            let last = map.members.last().map_or(0, |member| member.line);
            let end = member_end(&lines, last, limit);
            (end, end)
        }
    };
    // The same column as its siblings: YAML requires it.
    let indent = map.members.first().map_or(0, |member| member.column);
    close_line(&mut lines, start, ending);
    let new = wanted.map(|node| member(key, node, indent, ending)).unwrap_or_default();
    lines.splice(start.min(lines.len())..end.min(lines.len()), [new]);
    Ok(lines.concat())
}

/// Rewrites the enclosing value if it is not a block mapping.
fn replace_whole(
    text: &str,
    path: &[&str],
    key: &str,
    wanted: Option<&YamlNode>,
    there: Option<&YamlNode>,
) -> Result<String, DialectError> {
    let mut map = match there {
        Some(YamlNode::Map(map)) => map.clone(),
        Some(YamlNode::Scalar(Value::Null)) | None => YamlMapping::default(),
        Some(_) => {
            return Err(DialectError::Shape { path: path.join("."), wanted: "a mapping" });
        }
    };
    map.members.retain(|member| member.key != key);
    map.members.extend(wanted.map(|node| YamlMember::new(key, node.clone())));
    match path.split_last() {
        Some((last, parents)) => set(text, parents, last, Some(&YamlNode::Map(map))),
        None if there.is_none() => {
            let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { ending };
            let lines = map.members.iter();
            let lines = lines.map(|one| member(&one.key, &one.value, 0, ending));
            Ok(format!("{text}{gap}{}", lines.collect::<String>()))
        }
        // The whole file is one flow mapping.
        None => Err(DialectError::Touches),
    }
}

/// Returns the line after the mapping at `path`, or the end of the file.
fn mapping_end(root: Option<&YamlNode>, path: &[&str], end: usize) -> usize {
    let mut limit = end;
    let mut node = root;
    for key in path {
        let Some(YamlNode::Map(map)) = node else { return limit };
        let Some(member) = map.members.iter().find(|member| member.key == *key) else {
            return limit;
        };
        limit = next_line(map, member).unwrap_or(limit);
        node = Some(&member.value);
    }
    limit
}

fn next_line(map: &YamlMapping, member: &YamlMember) -> Option<usize> {
    map.members.iter().map(|other| other.line).filter(|line| *line > member.line).min()
}

/// Returns the line after a member, without the comments and blank lines before the next one.
fn member_end(lines: &[String], start: usize, limit: usize) -> usize {
    let mut end = limit.min(lines.len());
    while end > start + 1 {
        let line = lines.get(end - 1).map_or("", |line| line.trim());
        let is_between = line.is_empty() || line.starts_with('#') || line == "..." || line == "---";
        if !is_between {
            break;
        }
        end -= 1;
    }
    end
}

fn close_line(lines: &mut [String], start: usize, ending: &str) {
    let before = start.checked_sub(1).and_then(|index| lines.get_mut(index));
    if let Some(line) = before.filter(|line| !line.ends_with('\n')) {
        line.push_str(ending);
    }
}

/// Words that are Booleans in YAML 1.1, which many parsers still implement.
const BOOLEAN_WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off"];

/// Formats a member of a mapping with this indentation; every line ends with `ending`.
pub(super) fn member(key: &str, node: &YamlNode, indent: usize, ending: &str) -> String {
    let start = format!("{}{}:", " ".repeat(indent), scalar_text(key));
    match node {
        YamlNode::Map(map) if !map.members.is_empty() => {
            let inside = map.members.iter();
            let inside = inside.map(|one| member(&one.key, &one.value, indent + 2, ending));
            format!("{start}{ending}{}", inside.collect::<String>())
        }
        YamlNode::List(items) if !items.is_empty() => {
            let space = " ".repeat(indent + 2);
            let inside = items.iter().map(|item| format!("{space}- {}{ending}", flow(item)));
            format!("{start}{ending}{}", inside.collect::<String>())
        }
        other => format!("{start} {}{ending}", flow(other)),
    }
}

/// Formats a value on one line. Lists and mappings are written as JSON, which is valid YAML.
fn flow(node: &YamlNode) -> String {
    match node {
        YamlNode::Scalar(Value::String(text)) => scalar_text(text),
        YamlNode::Scalar(other) => other.to_string(),
        YamlNode::List(_) | YamlNode::Map(_) => node.value().to_string(),
    }
}

/// Formats a string unambiguously: quoted unless it is a plain word.
fn scalar_text(text: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./@-".contains(one);
    let begins_plain =
        text.starts_with(|one: char| one.is_ascii_alphabetic() || "_./".contains(one));
    let is_text = plain_scalar(text) == Value::String(text.to_owned());
    let is_truth = BOOLEAN_WORDS.contains(&text.to_ascii_lowercase().as_str());
    if begins_plain && is_text && !is_truth && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let quoted = Value::String(text.to_owned()).to_string();
    // Control characters that JSON does not escape.
    let code = |one: char| match one {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
            format!("\\u{:04x}", u32::from(one))
        }
        one => one.to_string(),
    };
    quoted.chars().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FILE: &str = "\
# Settings of mine.
GOOSE_MODEL: big   # beside
extensions:
  # The first one.
  first:
    enabled: true
    args:
    - -y
    note: |
      # no comment
      text

  # The second one.
  second: {enabled: false}
# The end.
last: 1
";

    fn change_entry(text: &str, key: &str, members: Value) -> String {
        let members = members.as_object().unwrap().clone().into_iter().collect();
        let change = EntryChange { key: key.to_owned(), members, keys: vec!["args", "enabled"] };
        change_one(text, change)
    }

    fn change_one(text: &str, one: EntryChange) -> String {
        change(text, &["extensions"], &[one]).unwrap()
    }

    #[test]
    fn only_the_lines_that_say_something_else_are_different() {
        let after = change_entry(FILE, "first", json!({"enabled": false}));
        let expected =
            FILE.replace("    enabled: true\n    args:\n    - -y\n", "    enabled: false\n");
        assert_eq!(after, expected);
    }

    #[test]
    fn a_new_entry_stands_after_the_last_one() {
        let after = change_entry(FILE, "third", json!({"enabled": true, "args": ["a: b", "yes"]}));
        let new = "  third:\n    args:\n      - \"a: b\"\n      - \"yes\"\n    enabled: true\n";
        assert_eq!(after, FILE.replace("# The end.", &format!("{new}# The end.")));
    }

    #[test]
    fn what_is_in_braces_is_written_in_lines_once_it_changes() {
        let after = change_entry(FILE, "second", json!({"enabled": true}));
        assert_eq!(
            after,
            FILE.replace("  second: {enabled: false}\n", "  second:\n    enabled: true\n")
        );
    }

    #[test]
    fn a_file_without_extensions_gets_them() {
        let new = "extensions:\n  a:\n    enabled: true\n";
        let cases = [
            ("", new.to_owned()),
            ("# Nothing.\n", format!("# Nothing.\n{new}")),
            ("x: 1", format!("x: 1\n{new}")),
            ("x: 1\r\n", format!("x: 1\r\n{}", new.replace('\n', "\r\n"))),
            ("extensions: {}\nx: 1\n", format!("{new}x: 1\n")),
            ("extensions:\nx: 1\n", format!("{new}x: 1\n")),
        ];
        for (text, expected) in cases {
            assert_eq!(change_entry(text, "a", json!({"enabled": true})), expected, "{text:?}");
        }
    }

    #[test]
    fn hostile_files_are_refused_and_not_expanded() {
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, before) in
            ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"])
        {
            let items = vec![format!("*{before}"); 9].join(", ");
            bomb.push_str(&format!("{name}: &{name} [{items}]\n"));
        }
        for text in [bomb, "[".repeat(5_000), "a: 1\n---\nb: 2\n".to_owned(), "{a: b".to_owned()] {
            assert!(parse(&text).is_err(), "{}", text.get(..20).unwrap());
        }
    }
}
