//! Which server an entry means: another command, address, variable or header makes it another one.

use switchboard_net::url_check;
use switchboard_text::Digest;

use crate::resolved::{ServerConfig, Transport};

impl ServerConfig {
    /// The fingerprint of the name and of how the server is reached. Values of variables and headers
    /// are secrets that change; their names do not.
    #[must_use]
    pub fn identity(&self) -> String {
        self.identity_with(str::to_owned)
    }

    /// The same where every text is first rewritten, such as to leave out where a project lies.
    #[must_use]
    pub fn identity_with(&self, rewritten: impl Fn(&str) -> String) -> String {
        let texts = |digest: Digest, texts: &mut dyn Iterator<Item = &String>| {
            let texts: Vec<String> = texts.map(|text| rewritten(text)).collect();
            let digest = digest.with(&texts.len().to_string());
            texts.iter().fold(digest, |digest, text| digest.with(text))
        };
        let digest = Digest::new("identity").with(self.id.as_str());
        match &self.transport {
            Transport::Builtin => digest.with("builtin"),
            Transport::Stdio { command, args, env, cwd } => {
                let digest = digest.with("stdio").with(&rewritten(command));
                let digest = texts(digest, &mut args.iter());
                let digest = texts(digest, &mut env.keys());
                let cwd = cwd.as_ref().map(|cwd| rewritten(&cwd.to_string_lossy()));
                digest.with(&format!("{cwd:?}"))
            }
            Transport::Http { urls, headers, kind: _ } => {
                let digest = texts(digest.with("http"), &mut urls.iter());
                texts(digest, &mut headers.keys())
            }
        }
        .hex()
    }

    /// How the server is reached, for people and without secrets.
    #[must_use]
    pub fn endpoint_text(&self) -> String {
        match &self.transport {
            Transport::Builtin => "built in".to_owned(),
            Transport::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Transport::Http { urls, .. } => {
                let urls = urls.iter().map(|url| url_check::without_secrets(url));
                urls.collect::<Vec<_>>().join(" ")
            }
        }
    }
}
