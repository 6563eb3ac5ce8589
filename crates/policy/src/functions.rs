//! What conditions can ask of a text: is this path below that folder, is this host one of those?

use std::collections::HashMap;
use std::sync::Arc;

use cel::extractors::This;
use cel::{Context, DeclarationError, ExecutionError};
use regex::Regex;
use switchboard_net::{UrlParts, check_host_pattern, host_matches};
use switchboard_rules::{compile_at_call, path_in};

/// The regular expressions that stand in conditions, by their text: compiled once, for all calls.
pub(crate) type RegexTable = HashMap<Box<str>, Regex>;

/// Registers the functions of conditions in a context.
///
/// # Errors
/// When CEL declares a function of the same name, which would be evaluated instead of ours.
pub(crate) fn register_functions(
    context: &mut Context<'_, '_>,
    patterns: &Arc<RegexTable>,
) -> Result<(), DeclarationError> {
    let patterns = Arc::clone(patterns);
    context.add_function(
        "matches",
        move |This(text): This<Arc<String>>, pattern: Arc<String>| {
            if let Some(known) = patterns.get(pattern.as_str()) {
                return Ok(known.is_match(&text));
            }
            compile_at_call(&pattern)
                .map(|pattern| pattern.is_match(&text))
                .map_err(|cause| ExecutionError::function_error("matches", cause))
        },
    )?;
    context.add_function("path_in", |path: Arc<String>, folder: Arc<String>| {
        path_in(&path, &folder).map_err(|cause| ExecutionError::function_error("path_in", cause))
    })?;
    context.add_function("host_in", |address: Arc<String>, pattern: Arc<String>| {
        host_in(&address, &pattern)
            .map_err(|cause| ExecutionError::function_error("host_in", cause))
    })
}

/// Whether an address leads to a host: a name, or `*.name` for all names below it.
fn host_in(address: &str, pattern: &str) -> Result<bool, String> {
    check_host_pattern(pattern).map_err(|cause| format!("the pattern {cause}"))?;
    let parts = UrlParts::parse(address)?;
    Ok(host_matches(&parts.host, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_taken_from_an_address_that_leaves_no_doubt() {
        for (address, expected) in [
            ("https://api.example.com/x", Some(true)),
            ("https://example.com.evil.tld/", Some(false)),
            ("https://evil.tld#.example.com", Some(false)),
            ("https://user@api.example.com/", None),
            ("https://api.example.com./", None),
            ("https://example.com/", Some(false)),
            ("api.example.com", None),
        ] {
            assert_eq!(host_in(address, "*.example.com").ok(), expected, "{address}");
        }
        assert!(host_in("https://a.com/", "a.com*").is_err());
    }
}
