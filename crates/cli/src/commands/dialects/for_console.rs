//! Servers of other products as the web console shows and takes them.

use std::path::Path;

use switchboard_config::{Environment, Places};
use switchboard_console::{Becomes, Elsewhere, FoundElsewhere, FoundServer, NotFound, UnreadFile};
use switchboard_dialects::{Dialect, Section, is_link, read_link};
use switchboard_terminal::CliError;

use crate::commands::dialects::import::there;
use crate::commands::dialects::plan::{Action, Item, plan};
use crate::commands::dialects::shown::{advice, how};
use crate::commands::dialects::sources::{Source, Unreadable, installed};

/// The products of this machine.
pub(crate) struct OtherProducts {
    pub(crate) environment: Environment,
    pub(crate) places: Places,
}

impl Elsewhere for OtherProducts {
    fn products(&self) -> Vec<(&'static str, &'static str)> {
        Dialect::ALL.into_iter().map(|dialect| (dialect.id(), dialect.title())).collect()
    }

    fn installed(&self) -> Result<FoundElsewhere, NotFound> {
        let (sources, unreadable) = installed(&self.environment, &self.places, None);
        self.found(sources, unreadable)
    }

    fn pasted(
        &self,
        text: &str,
        product: Option<&str>,
    ) -> Result<Option<FoundElsewhere>, NotFound> {
        let Some(source) = source(text.trim(), product)? else { return Ok(None) };
        self.found(vec![source], Vec::new()).map(Some)
    }
}

impl OtherProducts {
    fn found(
        &self,
        mut sources: Vec<Source>,
        unreadable: Vec<Unreadable>,
    ) -> Result<FoundElsewhere, NotFound> {
        let no_file = || not_found("there is no file to add servers to");
        let named = self.places.explicit.last().or(self.places.user.as_ref());
        let file = named.ok_or_else(no_file)?;
        let known = there(&self.places, file).map_err(refused)?;
        let items = plan(file, &known, &mut sources);
        let servers = items.into_iter().filter_map(|item| {
            let source = sources.get(item.source)?;
            Some(server(item, source))
        });
        let servers = servers.collect();
        let left_out = sources.iter().flat_map(|source| {
            source.notes.iter().map(|note| format!("{note} ({})", source.place))
        });
        let unreadable = unreadable.into_iter().map(|file| UnreadFile {
            place: file.place,
            message: file.message,
            hint: file.hint.to_owned(),
        });
        Ok(FoundElsewhere {
            servers,
            left_out: left_out.collect(),
            unreadable: unreadable.collect(),
        })
    }
}

fn server(item: Item, source: &Source) -> FoundServer {
    let mut notes: Vec<String> = item.notes.iter().map(ToString::to_string).collect();
    notes.extend(advice(&item));
    FoundServer {
        name: item.entry.name.clone(),
        product: source.dialect.title(),
        place: source.place.clone(),
        scope: source.scope,
        how: how(&item.entry),
        notes,
        entry: item.value,
        becomes: match item.action {
            Action::Add(name) => Becomes::New(name),
            Action::Duplicate(of) => Becomes::There(of),
            Action::Ourselves => Becomes::Ourselves,
            Action::Refuse(reason) => Becomes::Refused(reason),
        },
        findings: item.findings,
        plain_secrets: item.plain_secrets,
    }
}

/// What a text is; nothing if it reads as one of our own.
fn source(text: &str, product: Option<&str>) -> Result<Option<Source>, NotFound> {
    if is_link(text) {
        let (dialect, entry, notes) = read_link(text)
            .map_err(|cause| not_found(&format!("the link is not understood: {cause}")))?;
        let (place, entries) = (format!("a link of {}", dialect.title()), vec![entry]);
        return Ok(Some(Source { dialect, place, scope: "link", entries, notes }));
    }
    let dialect = match product {
        Some(word) => Some(
            Dialect::of(word)
                .ok_or_else(|| not_found(&format!("the product `{word}` is not known")))?,
        ),
        None => guessed(text),
    };
    let Some(dialect) = dialect else { return Ok(None) };
    let read = dialect.read(text, &Section::Top).map_err(|cause| NotFound {
        message: format!("it cannot be read as a file of {}: {cause}", dialect.title()),
        hint: Some(cause.hint().to_owned()),
    })?;
    let place = "what was pasted".to_owned();
    Ok(Some(Source { dialect, place, scope: "text", entries: read.entries, notes: read.notes }))
}

/// The product that a text looks like. What reads well as one of our own is one of our own: our
/// entries say more than those of others.
fn guessed(text: &str) -> Option<Dialect> {
    if !text.starts_with(['{', '/']) {
        // A file that is no JSON belongs to the products that write none.
        return [Dialect::Codex, Dialect::Goose].into_iter().find(|dialect| {
            dialect.read(text, &Section::Top).is_ok_and(|read| !read.entries.is_empty())
        });
    }
    let dialect = Dialect::guess(Path::new(""), text)?;
    // Cursor stands for all that nothing tells apart.
    let is_like_ours = text.contains("\"mcpServers\"");
    let is_own = is_like_ours && (dialect == Dialect::Cursor || reads_as_own(text));
    (!is_own).then_some(dialect)
}

fn reads_as_own(text: &str) -> bool {
    switchboard_config::pasted_entries(text).is_ok_and(|all| {
        all.iter().all(|one| {
            let name = one.name.as_deref().unwrap_or("new");
            switchboard_config::findings_of(Path::new(""), name, &one.entry).is_ok()
        })
    })
}

fn not_found(message: &str) -> NotFound {
    NotFound { message: message.to_owned(), hint: None }
}

fn refused(error: CliError) -> NotFound {
    NotFound { message: error.message, hint: error.hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_what_is_in_it_and_our_own_stays_ours() {
        for (text, expected) in [
            (r#"{"mcpServers": {"a": {"command": "b", "autoApprove": ["x"]}}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "b"}}}"#, None),
            (r#"{"command": "b"}"#, None),
            (r#"{"servers": {"a": {"command": "b"}}}"#, Some(Dialect::Vscode)),
            (r#"{"context_servers": {"a": {"command": "b"}}}"#, Some(Dialect::Zed)),
            (r#"{"mcp": {"a": {"type": "local", "command": ["b"]}}}"#, Some(Dialect::Opencode)),
            ("[mcp_servers.a]\ncommand = \"b\"", Some(Dialect::Codex)),
            (
                "extensions:\n  a:\n    type: stdio\n    cmd: b\n    enabled: true",
                Some(Dialect::Goose),
            ),
            ("plain words", None),
        ] {
            assert_eq!(guessed(text), expected, "{text}");
        }
    }
}
