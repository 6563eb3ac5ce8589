//! Reduces an entry to the part that a product can express, with notes about the rest.

use std::collections::BTreeMap;

use crate::abilities::{CarriedNames, TimeLimit};
use crate::entry::{EntryHttpKind, EntryTransport, OauthFields, ServerEntry, ToolRules};
use crate::grammar::Grammar;
use crate::note::{Note, NoteWeight};
use crate::text::{Syntax, VariablePiece, VariableText};

/// Returns the reduced entry, with a note for every difference; `None` if nothing is left of it.
pub(crate) fn reduce(
    target: &'static Grammar,
    entry: &ServerEntry,
    notes: &mut Vec<Note>,
) -> Option<ServerEntry> {
    let mut reduction = Reduction { target, name: &entry.name, notes };
    let able = &target.abilities;
    // Without the flag, the product would start a server that the user disabled.
    if entry.disabled && !able.disabled {
        reduction.leave_out("is disabled, which is not supported there");
        return None;
    }
    let reach = reduction.reach(&entry.reach)?;
    let is_program = matches!(reach, EntryTransport::Stdio { .. });
    let name = (able.names)(&entry.name);
    if name != entry.name {
        reduction.note_changed("", format!("is renamed to `{name}`"));
    }
    let timeout_ms = reduction.time(entry.timeout_ms, able.timeout, "timeout");
    let startup_timeout_ms =
        reduction.time(entry.startup_timeout_ms, able.startup_timeout, "start-up timeout");
    let tools = reduction.tools(&entry.tools);
    let oauth = if is_program { OauthFields::default() } else { reduction.oauth(&entry.oauth) };
    if is_program && entry.oauth != OauthFields::default() {
        reduction.note_lost("oauth", "does not apply to a program");
    }
    let mut extra = entry.extra.clone();
    // Our own file keeps the settings of all products.
    if target.id != crate::ours::ID {
        for (product, keys) in entry.extra.iter().filter(|(id, _)| *id != target.id) {
            for key in keys.keys() {
                reduction.note_lost(key, format!("is specific to {product}"));
            }
            extra.remove(product);
        }
    }
    extra.retain(|_, keys| !keys.is_empty());
    let disabled = entry.disabled;
    Some(ServerEntry { name, reach, timeout_ms, startup_timeout_ms, disabled, tools, oauth, extra })
}

struct Reduction<'a> {
    target: &'static Grammar,
    name: &'a str,
    notes: &'a mut Vec<Note>,
}

impl Reduction<'_> {
    fn tools(&mut self, tools: &ToolRules) -> ToolRules {
        let able = self.target.abilities;
        let mut tools = tools.clone();
        // Losing an approval is safe: the product asks more often, not less.
        if !able.approved && !tools.approved.is_empty() {
            let why = "is not supported there; the product decides which calls need approval";
            self.note_lost("autoApprove", why);
            tools.approved.clear();
        }
        if !able.approve_all && tools.approve_all {
            self.note_lost("autoApprove", "for all tools is not supported there");
            tools.approve_all = false;
        }
        if !able.allowed && !tools.allowed.is_empty() {
            self.note_lost("allowed tools", "is not supported there: all tools are offered");
            tools.allowed.clear();
        }
        if !able.denied && !tools.denied.is_empty() {
            self.note_lost("denied tools", "is not supported there: they are offered");
            tools.denied.clear();
        }
        tools
    }

    fn leave_out(&mut self, message: &str) {
        self.notes.push(Note::left_out(self.name, message));
    }

    fn note_lost(&mut self, key: &str, message: impl Into<String>) {
        self.notes.push(Note::new(self.name, key, NoteWeight::Lost, message));
    }

    fn note_changed(&mut self, key: &str, message: impl Into<String>) {
        self.notes.push(Note::new(self.name, key, NoteWeight::Changed, message));
    }

    fn reach(&mut self, reach: &EntryTransport) -> Option<EntryTransport> {
        let able = &self.target.abilities;
        match reach {
            EntryTransport::Stdio { command, args, env, env_file, cwd } => {
                let command = self.text(command, able.program, "command");
                let args = args.iter().map(|arg| self.text(arg, able.program, "args")).collect();
                let env = self.map(env, able.env, able.env_carries, "env");
                let env_file = self.optional(env_file.as_ref(), able.env_file, "envFile");
                let cwd = self.optional(cwd.as_ref(), able.cwd, "cwd");
                Some(EntryTransport::Stdio { command, args, env, env_file, cwd })
            }
            EntryTransport::Http { kind, url, headers } => {
                let kind = self.kind(*kind)?;
                let url = self.text(url, able.address, "url");
                let headers = self.map(headers, able.headers, able.headers_carry, "headers");
                Some(EntryTransport::Http { kind, url, headers })
            }
        }
    }

    fn kind(&mut self, kind: EntryHttpKind) -> Option<EntryHttpKind> {
        let kinds = self.target.abilities.kinds;
        let title = self.target.title;
        if kinds.contains(&kind) {
            return Some(kind);
        }
        if kinds.is_empty() {
            self.leave_out(&format!("has a URL, but {title} only starts programs"));
            return None;
        }
        if kind == EntryHttpKind::Auto && kinds.contains(&EntryHttpKind::Streamable) {
            self.note_changed("type", format!("is streamable HTTP in {title}, without a fallback"));
            return Some(EntryHttpKind::Streamable);
        }
        if kinds.contains(&EntryHttpKind::Auto) {
            self.note_changed("type", format!("is not written; {title} detects the transport"));
            return Some(EntryHttpKind::Auto);
        }
        self.leave_out(&format!("uses HTTP+SSE, which {title} does not support"));
        None
    }

    fn text(&mut self, text: &VariableText, syntax: Syntax, key: &str) -> VariableText {
        let (written, problems) = text.render(syntax);
        for (weight, message) in problems {
            self.notes.push(Note::new(self.name, key, weight, format!("differs: {message}")));
        }
        // The result is what the product reads, which may differ from what was meant.
        VariableText::parse(&written, syntax)
    }

    fn optional(
        &mut self,
        text: Option<&VariableText>,
        able: bool,
        key: &str,
    ) -> Option<VariableText> {
        let text = text?;
        if able {
            return Some(self.text(text, self.target.abilities.program, key));
        }
        self.note_lost(key, "is not supported there");
        None
    }

    fn map(
        &mut self,
        map: &BTreeMap<String, VariableText>,
        syntax: Syntax,
        carries: CarriedNames,
        key: &str,
    ) -> BTreeMap<String, VariableText> {
        let mut reduced = BTreeMap::new();
        for (name, text) in map {
            let text = match carry(name, text, carries) {
                CarriedValue::Yes => text.clone(),
                CarriedValue::As(other, message) => {
                    self.note_changed(&format!("{key}.{name}"), message);
                    other
                }
                CarriedValue::No => self.text(text, syntax, &format!("{key}.{name}")),
            };
            reduced.insert(name.clone(), text);
        }
        reduced
    }

    fn time(&mut self, time: Option<u64>, limit: Option<TimeLimit>, key: &str) -> Option<u64> {
        let time = time?;
        let Some(limit) = limit else {
            self.note_lost(key, "is not supported there");
            return None;
        };
        let nearest = limit.nearest(time);
        if nearest != time {
            self.note_changed(key, format!("of {time} ms becomes {nearest} ms"));
        }
        Some(nearest)
    }

    fn oauth(&mut self, oauth: &OauthFields) -> OauthFields {
        let able = self.target.abilities.oauth;
        let mut left = oauth.clone();
        if !able.client && left.client.take().is_some() {
            self.note_lost("oauth.clientId", "is not supported there");
        }
        if let Some(client) = &mut left.client {
            let syntax = self.target.abilities.headers;
            client.id = self.text(&client.id, without_secrets(syntax), "oauth.clientId");
            if let Some(secret) = client.secret.take() {
                if able.secret {
                    client.secret =
                        Some(self.text(&secret, without_secrets(syntax), "oauth.clientSecret"));
                } else {
                    self.note_lost("oauth.clientSecret", "is not supported there");
                }
            }
        }
        let alone = able.only_with_client && left.client.is_none();
        if (alone || !able.scopes) && !left.scopes.is_empty() {
            left.scopes.clear();
            self.note_lost("oauth.scopes", "is not supported there");
        }
        if (alone || !able.port) && left.callback_port.take().is_some() {
            self.note_lost("oauth.callbackPort", "is not supported there");
        }
        left
    }
}

/// Returns the syntax without keyring secrets, which our own files do not allow everywhere.
pub(crate) fn without_secrets(syntax: Syntax) -> Syntax {
    if syntax == Syntax::OURS { Syntax::OURS_OPEN } else { syntax }
}

enum CarriedValue {
    Yes,
    As(VariableText, String),
    No,
}

fn carry(name: &str, text: &VariableText, carries: CarriedNames) -> CarriedValue {
    match carries {
        CarriedNames::Nothing => CarriedValue::No,
        CarriedNames::SameVariable if text.as_variable() == Some(name) => CarriedValue::Yes,
        CarriedNames::SameVariable if text.as_secret() == Some(name) => {
            let message = format!("is read from the variable `{name}`");
            CarriedValue::As(VariableText::variable(name), message)
        }
        CarriedNames::SameSecret if text.as_secret() == Some(name) => CarriedValue::Yes,
        CarriedNames::SameSecret if text.as_variable() == Some(name) => {
            CarriedValue::As(VariableText::secret(name), "is requested and stored there".to_owned())
        }
        CarriedNames::WholeVariable
            if bearer(name, text).is_some() || text.as_variable().is_some() =>
        {
            CarriedValue::Yes
        }
        // A secret in the middle of a text cannot be passed by name.
        CarriedNames::WholeVariable => match text.as_secret() {
            Some(secret) => {
                let message = format!("is read from the variable `{secret}`");
                CarriedValue::As(VariableText::variable(secret), message)
            }
            None => CarriedValue::No,
        },
        CarriedNames::SameVariable | CarriedNames::SameSecret => CarriedValue::No,
    }
}

/// Returns the variable in `Authorization: Bearer ${VARIABLE}`.
pub(crate) fn bearer<'a>(name: &str, text: &'a VariableText) -> Option<&'a str> {
    match text.pieces() {
        [
            VariablePiece::Literal(word),
            VariablePiece::Variable { name: variable, default: None },
        ] if name == "Authorization" && word == "Bearer " => Some(variable),
        _ => None,
    }
}
