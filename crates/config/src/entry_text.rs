//! Describes an entry in lines, to show what an approval covers and what has changed since.

use switchboard_net::url_without_secrets;
use switchboard_text::hex_digest;

use crate::resolved::{ServerConfig, ToolSettings, Transport};
use crate::sandbox::Confinement;

impl ServerConfig {
    /// Describes how the server is started or reached, one fact per line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.transport_lines();
        lines.extend(self.permission_lines());
        lines
    }

    fn permission_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.auto_approve.iter().map(|tool| format!("autoApprove  {tool}")));
        lines.extend(self.mirror_secrets.iter().map(|name| format!("mirrorSecrets  {name}")));
        if let Some(sampling) = &self.sampling {
            lines.push(format!("sampling  {sampling:?}"));
        }
        lines.extend(self.fallback.iter().map(|to| format!("fallback  {to}")));
        let tools = self.tools.iter().filter(|(_, tool)| **tool != ToolSettings::default());
        lines.extend(tools.map(|(name, tool)| format!("tools.{name}  {tool:?}")));
        if let Some(file) = &self.authorities {
            lines.push(fingerprint_line("caFile", &file.path.display().to_string(), &file.pem));
        }
        lines
    }

    fn transport_lines(&self) -> Vec<String> {
        match &self.transport {
            Transport::Builtin => vec!["built in".to_owned()],
            Transport::Stdio { command, args, env, cwd } => {
                let mut lines = vec![format!("command  {command}")];
                lines.extend(args.iter().zip(0..).map(|(arg, at)| format!("args[{at}]  {arg}")));
                lines.extend(env.iter().map(|(name, value)| fingerprint_line("env", name, value)));
                lines.extend(cwd.iter().map(|cwd| format!("cwd  {}", cwd.display())));
                if self.confinement != Confinement::None {
                    lines.push(format!("sandbox  {:?}", self.confinement));
                }
                lines
            }
            Transport::Http { urls, headers, .. } => {
                let addresses = urls.iter().map(|url| url_without_secrets(url));
                let mut lines: Vec<String> = addresses.map(|url| format!("url  {url}")).collect();
                lines.extend(
                    headers.iter().map(|(name, value)| fingerprint_line("header", name, value)),
                );
                lines
            }
        }
    }
}

fn fingerprint_line(what: &str, name: &str, value: &str) -> String {
    // A fingerprint instead of the value: a change is visible, and a secret is not.
    let mark = hex_digest([value.as_bytes()]);
    format!("{what}  {name} (value {})", mark.get(..8).unwrap_or_default())
}

/// Returns the removed lines with `-` and the added lines with `+`.
pub fn diff_lines(before: &[String], after: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}"));
    let come = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_what_went_and_what_came() {
        let lines =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let before = lines(&["command  a", "args[0]  b"]);
        let after = lines(&["command  a", "args[0]  c"]);
        assert_eq!(diff_lines(&before, &after), ["- args[0]  b", "+ args[0]  c"]);
        assert_eq!(diff_lines(&before, &before), [""; 0]);
    }
}
