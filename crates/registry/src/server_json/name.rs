//! Names of servers in a registry: `io.github.owner/server`.

/// Whether it is a name that a server in a registry can have.
#[must_use]
pub fn is_registry_name(text: &str) -> bool {
    let Some((space, name)) = text.split_once('/') else { return false };
    let of = |part: &str, more: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    (3..=200).contains(&text.len()) && of(space, ".-") && of(name, "._-") && !text.contains("..")
}

/// Names that say nothing about whose server it is.
const GENERIC: &[&str] = &["mcp", "server", "mcp-server", "mcp_server", "mcpserver", "api", "main"];

/// The part of a name after the slash, as a name for an entry; where that says nothing, the last
/// part before it that does.
#[must_use]
pub fn short_name(name: &str) -> String {
    let (space, last) = name.rsplit_once('/').unwrap_or(("", name));
    let is_telling = |part: &&str| !part.is_empty() && !GENERIC.contains(part);
    let telling = std::iter::once(last).chain(space.rsplit('.')).find(is_telling).unwrap_or(last);
    let fits = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    telling.chars().map(fits).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_plain_parts_are_a_name() {
        for name in ["io.github.a/b", "app.linear/linear", "com.x-y.z/a_b.c-d", "a/b"] {
            assert!(is_registry_name(name), "{name}");
        }
        for name in [
            "",
            "a",
            "a/",
            "/b",
            "a/b/c",
            "a b/c",
            "a/b\n",
            "../b",
            "a/..",
            "a/.b",
            "-a/b",
            "a/-b",
            "a..b/c",
            "a/b%2fc",
            "ä/b",
            "./server.mcpb",
        ] {
            assert!(!is_registry_name(name), "{name}");
        }
    }

    #[test]
    fn an_entry_is_named_by_the_last_part_that_says_something() {
        for (name, expected) in [
            ("io.github.a/my.server", "my-server"),
            ("com.notion/mcp", "notion"),
            ("com.figma.mcp/mcp", "figma"),
            ("mcp/mcp", "mcp"),
            ("plain", "plain"),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }
}
