//! Names of environment variables and headers: which are valid, and which run code.

/// Variables that make a program load or run something else than itself.
const RUNS_CODE: &[&str] = &[
    "BASH_ENV",
    "GCONV_PATH",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "SSH_ASKPASS",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// Beginnings of names that the dynamic linker listens to.
const LINKER: &[&str] = &["LD_", "DYLD_"];

/// Whether setting the variable can make any program run other code.
pub(super) fn runs_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    RUNS_CODE.contains(&name.as_str()) || LINKER.iter().any(|start| name.starts_with(start))
}

/// Whether an operating system takes it as the name of a variable.
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Whether it is a `token` of RFC 9110, as names of headers are.
pub(super) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether it can be sent as the value of a header.
pub(super) fn is_header_value(value: &str) -> bool {
    !value.chars().any(|character| character.is_control() && character != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_load_code_are_known_in_any_case() {
        let dangerous = [
            "LD_PRELOAD",
            "LD_AUDIT",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "node_options",
            "PYTHONSTARTUP",
            "BASH_ENV",
            "GIT_SSH_COMMAND",
        ];
        for name in dangerous {
            assert!(runs_code(name), "{name}");
        }
        for name in ["PATH", "API_KEY", "PYTHONPATH", "ENV", "LDAP_URL", "NODE_ENV"] {
            assert!(!runs_code(name), "{name}");
        }
    }

    #[test]
    fn header_names_and_values_cannot_end_a_line() {
        for name in ["", "a b", "a:b", "a\r\nb", "ä"] {
            assert!(!is_header_name(name), "{name:?}");
        }
        assert!(is_header_name("X-Api-Key"));
        assert!(is_header_value("Bearer a\tb"));
        assert!(!is_header_value("a\r\nb: c"));
    }
}
