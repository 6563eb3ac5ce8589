//! A stable order of servers and tools, which keeps the prefix of a prompt unchanged.

use std::collections::HashMap;

use crate::prompt::views::ShownServer;

/// The order of first appearance of servers and tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StableOrder {
    servers: Vec<RememberedServer>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct RememberedServer {
    name: String,
    tools: Vec<String>,
}

impl StableOrder {
    /// Creates an empty order.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sorts servers and their tools by the remembered order, and remembers new ones.
    pub fn arrange(&mut self, servers: &mut [ShownServer<'_>]) {
        // Vendors charge less for a cached prefix, which ends at the first byte that differs. So a
        // server that returns keeps its place, and new ones are appended, by name.
        servers.sort_by(|left, right| left.name.cmp(right.name));
        self.remember(servers);
        let at = places(self.servers.iter().map(|server| server.name.as_str()));
        servers.sort_by_key(|server| at.get(server.name).copied());
        for server in servers {
            let Some(known) = self.servers.iter().find(|known| known.name == server.name) else {
                continue;
            };
            let places = places(known.tools.iter().map(String::as_str));
            server.tools.sort_by_key(|tool| places.get(tool.name).copied());
        }
    }

    fn remember(&mut self, servers: &[ShownServer<'_>]) {
        for server in servers {
            let place = self.servers.iter().position(|known| known.name == server.name);
            let place = place.unwrap_or_else(|| {
                self.servers
                    .push(RememberedServer { name: server.name.to_owned(), tools: Vec::new() });
                self.servers.len() - 1
            });
            let Some(known) = self.servers.get_mut(place) else { continue };
            let seen = places(known.tools.iter().map(String::as_str));
            let new: Vec<String> = server
                .tools
                .iter()
                .filter(|tool| !seen.contains_key(tool.name))
                .map(|tool| tool.name.to_owned())
                .collect();
            drop(seen);
            known.tools.extend(new);
        }
    }
}

fn places<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut places = HashMap::new();
    for (place, name) in names.enumerate() {
        places.entry(name).or_insert(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::StableOrder;
    use crate::prompt::native::{Vendor, definitions};
    use crate::prompt::options::PromptOptions;
    use crate::prompt::views::{ShownServer, ShownTool};
    use crate::prompt::xml::section;

    fn server<'a>(name: &'a str, tools: &[&'a str]) -> ShownServer<'a> {
        let tools = tools.iter().map(|name| ShownTool { name, ..ShownTool::default() }).collect();
        ShownServer { name, tools, ..ShownServer::default() }
    }

    fn tool_paths(servers: &[ShownServer<'_>]) -> Vec<String> {
        let mut all = Vec::new();
        for server in servers {
            for tool in &server.tools {
                all.push(format!("{}/{}", server.name, tool.name));
            }
        }
        all
    }

    #[test]
    fn what_comes_back_keeps_its_place_and_what_is_new_comes_last() {
        let mut order = StableOrder::new();
        let mut first = vec![server("m", &["two", "one"]), server("b", &["x"])];
        order.arrange(&mut first);
        assert_eq!(tool_paths(&first), ["b/x", "m/two", "m/one"]);

        let mut without = vec![server("a", &["new"]), server("m", &["one", "three"])];
        order.arrange(&mut without);
        assert_eq!(tool_paths(&without), ["m/one", "m/three", "a/new"]);

        let mut again =
            vec![server("a", &["new"]), server("b", &["x"]), server("m", &["three", "two"])];
        order.arrange(&mut again);
        assert_eq!(tool_paths(&again), ["b/x", "m/two", "m/three", "a/new"]);
    }

    #[test]
    fn definitions_keep_their_prefix_too() {
        let mut order = StableOrder::new();
        let defined = |servers: &mut [ShownServer<'_>], order: &mut StableOrder| {
            order.arrange(servers);
            let all = definitions(servers, Vendor::Anthropic, &PromptOptions::default());
            all.request_value().to_string()
        };
        let base = defined(&mut [server("mail", &["send"]), server("web", &["fetch"])], &mut order);
        let mut grown = [
            server("calendar", &["today"]),
            server("mail", &["send"]),
            server("web", &["search", "fetch"]),
        ];
        let more = defined(&mut grown, &mut order);
        let open = base.strip_suffix(']').unwrap();
        assert_eq!(
            more.strip_prefix(open).map(|rest| rest.starts_with(",{")),
            Some(true),
            "{more}"
        );
        assert_eq!(more.matches("\"name\"").count(), 4);
    }

    #[test]
    fn the_prefix_survives_a_server_that_comes_and_goes() {
        let options = PromptOptions::default();
        let mut order = StableOrder::new();
        let mut at_first = vec![server("mail", &["send", "read"]), server("web", &["fetch"])];
        order.arrange(&mut at_first);
        let base = section(&at_first, &options);

        // Sorted by name only, `calendar` would move everything else back.
        let mut grown = vec![
            server("calendar", &["today"]),
            server("mail", &["send", "read"]),
            server("web", &["fetch"]),
        ];
        order.arrange(&mut grown);
        let more = section(&grown, &options);
        let mut gone = at_first.clone();
        order.arrange(&mut gone);
        let less = section(&gone, &options);
        order.arrange(&mut grown);

        let common =
            base.bytes().zip(more.bytes()).take_while(|(left, right)| left == right).count();
        println!("{common} of {} bytes survive a server that joins", base.len());
        assert_eq!(common, base.len());
        assert_eq!(less, base);
        assert_eq!(section(&grown, &options), more);
    }
}
