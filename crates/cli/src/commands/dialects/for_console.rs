//! Servers of other products for the web console to show and import.

use std::path::Path;

use switchboard_config::{Environment, Places};
use switchboard_console::{
    DiscoveryError, ProductReader, Proposal, ProposedServer, SourceShown, UnreadFile,
};
use switchboard_dialects::{FileSection, ProductDialect, is_link, read_link};
use switchboard_terminal::CliError;

use crate::commands::dialects::import::own_entries;
use crate::commands::dialects::plan::{ImportAction, ImportItem, plan};
use crate::commands::dialects::shown::{advice, launch_text};
use crate::commands::dialects::sources::{ImportSource, UnreadableFile, installed_sources};

pub(crate) struct OtherProducts {
    pub(crate) environment: Environment,
    pub(crate) places: Places,
}

impl ProductReader for OtherProducts {
    fn products(&self) -> Vec<(&'static str, &'static str)> {
        ProductDialect::ALL.into_iter().map(|dialect| (dialect.id(), dialect.title())).collect()
    }

    fn installed_servers(&self) -> Result<Proposal, DiscoveryError> {
        let (sources, unreadable) = installed_sources(&self.environment, &self.places, None);
        self.discover(sources, unreadable)
    }

    fn parse_pasted(
        &self,
        text: &str,
        product: Option<&str>,
    ) -> Result<Option<Proposal>, DiscoveryError> {
        let Some(source) = source(text.trim(), product)? else { return Ok(None) };
        self.discover(vec![source], Vec::new()).map(Some)
    }
}

impl OtherProducts {
    fn discover(
        &self,
        mut sources: Vec<ImportSource>,
        unreadable: Vec<UnreadableFile>,
    ) -> Result<Proposal, DiscoveryError> {
        let file = self.places.explicit.last().or(self.places.user.as_ref());
        let file = file.ok_or_else(|| not_found("no configuration file to add servers to"))?;
        let known = own_entries(&self.places, file).map_err(discovery_error)?;
        let items = plan(file, &known, &mut sources);
        let shown = |item: ImportItem| sources.get(item.source).map(|source| server(item, source));
        let servers = items.into_iter().filter_map(shown).collect();
        let left_out = sources.iter().flat_map(|source| {
            source.notes.iter().map(|note| format!("{note} ({})", source.place))
        });
        let unreadable = unreadable.into_iter().map(|file| UnreadFile {
            place: file.place,
            message: file.message,
            hint: file.hint.to_owned(),
        });
        Ok(Proposal { servers, left_out: left_out.collect(), unreadable: unreadable.collect() })
    }
}

fn server(item: ImportItem, source: &ImportSource) -> ProposedServer {
    let mut notes: Vec<String> = item.notes.iter().map(ToString::to_string).collect();
    notes.extend(advice(&item));
    let source = SourceShown {
        product: source.dialect.title(),
        place: source.place.clone(),
        scope: source.scope,
        name: item.entry.name.clone(),
        digest: None,
    };
    let mut proposed = ProposedServer {
        name: Some(item.entry.name.clone()),
        how: launch_text(&item.entry),
        entry: item.value,
        findings: item.findings,
        problem: None,
        hint: None,
        exists: false,
        needless: None,
        notes,
        plain_secrets: item.plain_secrets,
        source: Some(source),
    };
    match item.action {
        ImportAction::Add(name) => proposed.name = Some(name),
        ImportAction::Duplicate(of) => {
            proposed.needless = Some(format!("it is already configured as `{of}`"));
        }
        ImportAction::Ourselves => {
            proposed.needless = Some("it points at Switchboard itself".to_owned());
        }
        ImportAction::Refuse(reason) => proposed.problem = Some(reason),
    }
    proposed
}

/// Parses pasted text; `None` if it is in Switchboard's own format.
fn source(text: &str, product: Option<&str>) -> Result<Option<ImportSource>, DiscoveryError> {
    if is_link(text) {
        let (dialect, entry, notes) = read_link(text)
            .map_err(|cause| not_found(&format!("the link cannot be parsed: {cause}")))?;
        let place = format!("a link of {}", dialect.title());
        let entries = vec![entry];
        return Ok(Some(ImportSource { dialect, place, scope: "link", entries, notes }));
    }
    let dialect = match product {
        Some(word) => Some(
            ProductDialect::from_id(word)
                .ok_or_else(|| not_found(&format!("unknown product `{word}`")))?,
        ),
        None => guess_product(text),
    };
    let Some(dialect) = dialect else { return Ok(None) };
    let read = dialect.read(text, &FileSection::Top).map_err(|cause| DiscoveryError {
        message: format!("it is not a valid configuration of {}: {cause}", dialect.title()),
        hint: Some(cause.hint().to_owned()),
    })?;
    let place = "pasted text".to_owned();
    let notes = read.notes;
    Ok(Some(ImportSource { dialect, place, scope: "text", entries: read.entries, notes }))
}

/// Guesses the product that a text belongs to; `None` for Switchboard's own format.
fn guess_product(text: &str) -> Option<ProductDialect> {
    if !text.starts_with(['{', '/']) {
        // Only Codex and Goose use formats other than JSON.
        return [ProductDialect::Codex, ProductDialect::Goose].into_iter().find(|dialect| {
            dialect.read(text, &FileSection::Top).is_ok_and(|read| !read.entries.is_empty())
        });
    }
    let dialect = ProductDialect::guess(Path::new(""), text)?;
    // `guess` falls back to Cursor for files without distinguishing features.
    // Text that is valid in our own format is treated as such, because its entries are more
    // expressive.
    let is_like_ours = text.contains("\"mcpServers\"");
    let is_own = is_like_ours && (dialect == ProductDialect::Cursor || reads_as_own(text));
    (!is_own).then_some(dialect)
}

fn reads_as_own(text: &str) -> bool {
    switchboard_config::pasted_entries(text).is_ok_and(|all| {
        all.iter().all(|one| {
            let name = one.name.as_deref().unwrap_or("new");
            switchboard_config::entry_findings(Path::new(""), name, &one.entry).is_ok()
        })
    })
}

fn not_found(message: &str) -> DiscoveryError {
    DiscoveryError { message: message.to_owned(), hint: None }
}

fn discovery_error(error: CliError) -> DiscoveryError {
    DiscoveryError { message: error.message, hint: error.hint }
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
            (r#"{"servers": {"a": {"command": "b"}}}"#, Some(ProductDialect::Vscode)),
            (r#"{"context_servers": {"a": {"command": "b"}}}"#, Some(ProductDialect::Zed)),
            (
                r#"{"mcp": {"a": {"type": "local", "command": ["b"]}}}"#,
                Some(ProductDialect::Opencode),
            ),
            ("[mcp_servers.a]\ncommand = \"b\"", Some(ProductDialect::Codex)),
            (
                "extensions:\n  a:\n    type: stdio\n    cmd: b\n    enabled: true",
                Some(ProductDialect::Goose),
            ),
            ("plain words", None),
        ] {
            assert_eq!(guess_product(text), expected, "{text}");
        }
    }
}
