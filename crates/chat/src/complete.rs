//! What Tab offers at the prompt: commands, prompts and resources of servers.

use switchboard_host::Host;
use switchboard_terminal::Complete;

use crate::slash::HELP;

/// Completes from what the servers offer at this moment.
pub(crate) struct Completions {
    pub(crate) host: Host,
}

impl Complete for Completions {
    fn complete(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let start = before.rfind(char::is_whitespace).map_or(0, |place| {
            place
                + before.get(place..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        let word = before.get(start..).unwrap_or_default();
        let offered = match word.chars().next() {
            Some('/') if start == 0 => self.commands(),
            Some('@') => self.resources(),
            _ => Vec::new(),
        };
        let fitting = offered.into_iter().filter(|offer| offer.starts_with(word)).take(200);
        (start, fitting.collect())
    }
}

impl Completions {
    fn commands(&self) -> Vec<String> {
        let own = HELP.iter().filter_map(|(usage, _)| usage.split(' ').next());
        let own = own.filter(|word| word.starts_with('/') && !word.contains(':'));
        let mut all: Vec<String> = own.map(str::to_owned).collect();
        for server in self.host.fleet().load().servers.values() {
            let prompts = server.offers.prompts.iter();
            all.extend(prompts.map(|prompt| format!("/{}:{}", server.id, prompt.key)));
        }
        all
    }

    fn resources(&self) -> Vec<String> {
        let mut all = Vec::new();
        for server in self.host.fleet().load().servers.values() {
            let resources = server.offers.resources.iter();
            all.extend(resources.map(|resource| format!("@{}:{}", server.id, resource.key)));
        }
        all
    }
}
