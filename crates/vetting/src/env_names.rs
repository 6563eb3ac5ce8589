//! Names of environment variables and headers: validity, and variables that run code.

/// Variables that make a program load or run other code.
const RUNS_CODE: &[&str] = &[
    "ANT_OPTS",
    "BASHOPTS",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "BUN_CONFIG_REGISTRY",
    "BUN_INSPECT_PRELOAD",
    "BUN_OPTIONS",
    "CAML_LD_LIBRARY_PATH",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CATALINA_OPTS",
    "COMSPEC",
    "CORECLR_ENABLE_PROFILING",
    "CORECLR_PROFILER",
    "CORECLR_PROFILER_PATH",
    "CORECLR_PROFILER_PATH_32",
    "CORECLR_PROFILER_PATH_64",
    "COREPACK_NPM_REGISTRY",
    "COR_PROFILER",
    "COR_PROFILER_PATH",
    "CVS_RSH",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_STARTUP_HOOKS",
    "EDITOR",
    "ELECTRON_RUN_AS_NODE",
    "ELIXIR_ERL_OPTIONS",
    "EMACSLOADPATH",
    "ERL_AFLAGS",
    "ERL_FLAGS",
    "ERL_ZFLAGS",
    "EXINIT",
    "GCONV_PATH",
    "GIO_EXTRA_MODULES",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GLIBC_TUNABLES",
    "GOENV",
    "GOPROXY",
    "GOTOOLCHAIN",
    "GRADLE_OPTS",
    "GST_PLUGIN_PATH",
    "GTK_MODULES",
    "GTK_PATH",
    "HGRCPATH",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JSR_URL",
    "LDR_PRELOAD",
    "LDR_PRELOAD64",
    "LESSCLOSE",
    "LESSOPEN",
    "LUA_CPATH",
    "LUA_INIT",
    "MAKEFLAGS",
    "MANPAGER",
    "MAVEN_OPTS",
    "NIX_CONFIG",
    "NODE_OPTIONS",
    "NODE_REPL_EXTERNAL_MODULE",
    "NPM_CONFIG_CALL",
    "NPM_CONFIG_GIT",
    "NPM_CONFIG_GLOBALCONFIG",
    "NPM_CONFIG_INIT_MODULE",
    "NPM_CONFIG_NODE_OPTIONS",
    "NPM_CONFIG_ONLOAD_SCRIPT",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_SCRIPT_SHELL",
    "NPM_CONFIG_SHELL",
    "NPM_CONFIG_USERCONFIG",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PAGER",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5SHELL",
    "PERLLIB",
    "PERL_MM_OPT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PIP_CONFIG_FILE",
    "PIP_CONSTRAINT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_REQUIREMENT",
    "PNPM_CONFIG_REGISTRY",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "QT_PLUGIN_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUBYSHELL",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "R_ENVIRON",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SBT_OPTS",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SVN_SSH",
    "SYSTEMD_PAGER",
    "TCLLIBPATH",
    "TS_NODE_COMPILER",
    "UV_CONFIG_FILE",
    "UV_CONSTRAINT",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_OVERRIDE",
    "UV_PYTHON",
    "UV_PYTHON_DOWNLOADS_JSON_URL",
    "UV_PYTHON_INSTALL_MIRROR",
    "VIMINIT",
    "VISUAL",
    "YARN_NPM_REGISTRY_SERVER",
    "YARN_RC_FILENAME",
    "YARN_REGISTRY",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
    "_RLD_LIST",
];

/// Prefixes of variables that the dynamic linker reads.
const LINKER_PREFIXES: &[&str] = &["LD_", "DYLD_"];

/// Prefixes of variables that contain code, or settings that run code.
const CODE_PREFIXES: &[&str] = &[
    "BASH_FUNC_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "LUA_INIT_",
    // The registry of a scope: `npm_config_@acme:registry`.
    "NPM_CONFIG_@",
];

/// Variables that set where programs and modules are searched.
const REDIRECTS_LOOKUP: &[&str] = &[
    "APPDATA",
    "AWKPATH",
    "AWS_CONFIG_FILE",
    "BUNDLE_GEMFILE",
    "CARGO_HOME",
    "CLASSPATH",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "DENO_DIR",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOTNET_ROOT",
    "ENV",
    "FPATH",
    "GEM_HOME",
    "GEM_PATH",
    "GIT_DIR",
    "GIT_SSL_NO_VERIFY",
    "GIT_WORK_TREE",
    "GOFLAGS",
    "GOINSECURE",
    "GONOSUMDB",
    "GOPRIVATE",
    "GOROOT",
    "GOSUMDB",
    "GUILE_LOAD_PATH",
    "HOME",
    "HOSTALIASES",
    "JAVA_HOME",
    "JULIA_LOAD_PATH",
    "KUBECONFIG",
    "LIBGL_DRIVERS_PATH",
    "LOCALAPPDATA",
    "LOCPATH",
    "LUA_PATH",
    "MISE_CONFIG_FILE",
    "MONO_PATH",
    "NLSPATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "NPM_CONFIG_PREFIX",
    "PATH",
    "PATHEXT",
    "PIP_TRUSTED_HOST",
    "PNPM_HOME",
    "PSMODULEPATH",
    "PYTHONHTTPSVERIFY",
    "PYTHONPATH",
    "REQUESTS_CA_BUNDLE",
    "SASL_PATH",
    "SHELL",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TCL_LIBRARY",
    "TSX_TSCONFIG_PATH",
    "TS_NODE_PROJECT",
    "USERPROFILE",
    "VIRTUAL_ENV",
    "VK_LAYER_PATH",
    "WGETRC",
    "WINDIR",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
];

/// Returns whether the variable can make a program run other code.
pub(crate) fn runs_code(name: &str) -> bool {
    let name = normalize(name);
    RUNS_CODE.contains(&name.as_str())
        || LINKER_PREFIXES.iter().chain(CODE_PREFIXES).any(|start| name.starts_with(start))
}

/// Returns whether the variable sets where programs, modules or trusted certificates come from.
pub(crate) fn redirects_lookup(name: &str) -> bool {
    REDIRECTS_LOOKUP.contains(&normalize(name).as_str())
}

fn normalize(name: &str) -> String {
    // npm ignores the case of its variables and accepts `-` for `_`; Windows ignores case too.
    name.trim().to_ascii_uppercase().replace('-', "_")
}

/// Returns whether the name is valid for the operating system and has no control characters.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_control())
}

/// Returns whether the name is a `token` of RFC 9110, as header names must be.
pub fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns whether the value can be sent in a header.
pub fn is_header_value(value: &str) -> bool {
    // A line break would end the header and start another one.
    !value.chars().any(|character| character.is_control() && character != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_load_code_are_known_in_any_case() {
        let dangerous = [
            "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS",
            "node_options", "PYTHONSTARTUP", "BASH_ENV", "GIT_SSH_COMMAND",
        ];
        for name in dangerous {
            assert!(runs_code(name), "{name}");
        }
        let further = [
            "GIT_CONFIG_KEY_0",
            "BASH_FUNC_ls%%",
            "dotnet_startup_hooks",
            "LD_BIND_NOW",
            "ld_preload",
            "Dyld_Library_Path",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "npm_config_node_options",
            "SVN_SSH",
            "RSYNC_RSH",
            "HGRCPATH",
            "RUSTC_WORKSPACE_WRAPPER",
            "ComSpec",
            "LUA_INIT_5_4",
            "PYTHONBREAKPOINT",
            "LESSOPEN",
            "yarn_rc_filename",
            "npm_config_@acme:registry",
            "npm_config_script-shell",
            "pip_index-url",
            "Npm_Config_Registry",
            "PIP_REQUIREMENT",
            "UV_OVERRIDE",
            "UV_PYTHON",
            "UV_PYTHON_DOWNLOADS_JSON_URL",
            "UV_PYTHON_INSTALL_MIRROR",
            "TS_NODE_COMPILER",
            "SUDO_ASKPASS",
        ];
        for name in further {
            assert!(runs_code(name), "{name}");
        }
        for name in ["PATH", "API_KEY", "PYTHONPATH", "ENV", "LDAP_URL", "NODE_ENV"] {
            assert!(!runs_code(name), "{name}");
        }
        for name in
            ["PATH", "PSModulePath", "kubeconfig", "NODE_TLS_REJECT_UNAUTHORIZED", "SSLKEYLOGFILE"]
        {
            assert!(redirects_lookup(name) && !runs_code(name), "{name}");
        }
    }

    #[test]
    fn a_variables_name_cannot_hold_another_one() {
        for name in ["", "A=B", "A\0B", "A\nB", "A\u{85}B"] {
            assert!(!is_variable_name(name), "{name:?}");
        }
        assert!(is_variable_name("BASH_FUNC_x%%") && is_variable_name("npm_config_@a:registry"));
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
