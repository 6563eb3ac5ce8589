//! Finds the tool that a caller means, among those that it sees: names are looked up whole.

use switchboard_catalog::Lease;
use switchboard_core::{Target, TargetKind};

use crate::access::AuthorizedCaller;

/// What a caller wrote: perhaps the server, and one or two names of the tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolReference<'a> {
    pub(crate) server: &'a str,
    pub(crate) names: [&'a str; 2],
}

/// The tool that is meant, or why that is not clear.
///
/// Where a server is named and the caller sees all, an unknown name is left to the line, which
/// records it and says what comes close.
pub(crate) fn find_tool(
    lease: &Lease,
    visitor: &AuthorizedCaller,
    wanted: ToolReference<'_>,
) -> Result<Target, String> {
    let ToolReference { server, names } = wanted;
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let Some(first) = names.first() else {
        return Err("the call names no tool".to_owned());
    };
    let catalog = lease.catalog();
    let seen = || {
        catalog.tools().filter(|entry| {
            let id = entry.server.id.as_str();
            (server.is_empty() || server == id) && visitor.sees(id, entry.tool.name())
        })
    };
    let full = |place: usize| catalog.names().get(place).unwrap_or_default();
    let joined = |id: &str, own: &str| format!("{id}-{own}");
    let mut found: Vec<Target> = Vec::new();
    // A full name says which server; only then a plain one is tried.
    for pass in 0..3 {
        for entry in seen() {
            let id = entry.server.id.as_str();
            let own = entry.tool.name();
            let is_meant = names.iter().any(|name| match pass {
                0 if !server.is_empty() => *name == own,
                0 => *name == full(entry.place),
                1 if !server.is_empty() => *name == full(entry.place) || *name == joined(id, own),
                1 => *name == joined(id, own),
                _ => *name == own,
            });
            let target = Target::new(TargetKind::Tool, id, own);
            if is_meant && !found.contains(&target) {
                found.push(target);
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    match found.len() {
        1 => found.pop().ok_or_else(String::new),
        0 if !server.is_empty() && visitor.sees_all() => {
            Ok(Target::new(TargetKind::Tool, server, first))
        }
        0 => Err(format!("there is no tool `{first}`")),
        _ => {
            let servers: Vec<&str> = found.iter().map(|target| target.server.as_str()).collect();
            let servers = servers.join("`, `");
            Err(format!("the tool `{first}` is offered by several servers: `{servers}`"))
        }
    }
}
