//! Addresses with gaps: the variables of a resource template that a form can fill in.

/// What may stand before the names in a gap.
const OPERATORS: [char; 4] = ['+', '/', '?', '&'];

/// The variables of a template, each once; nothing if it says something that a form cannot fill in.
pub(super) fn variables(template: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let (gap, after) = after.split_once('}')?;
        for name in gap.trim_start_matches(OPERATORS).split(',') {
            let name = name.trim_end_matches('*');
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            if name.is_empty() || !name.chars().all(is_plain) {
                return None;
            }
            if !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
        rest = after;
    }
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn the_gaps_of_an_address_are_found() {
        for (template, expected) in [
            ("file:///{path}", Some(vec!["path"])),
            ("db://{table}/{+rest}{?limit,page}", Some(vec!["table", "rest", "limit", "page"])),
            ("a://{x}/{x*}", Some(vec!["x"])),
            ("a://plain", None),
            ("a://{x", None),
            ("a://{}", None),
            ("a://{x:3}", None),
            ("a://{#x}", None),
        ] {
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(variables(template), expected, "{template}");
        }
    }
}
