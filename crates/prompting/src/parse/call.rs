//! The state of a call that is opened and not closed yet.

use memchr::memchr;

use crate::parse::arguments::{ParsedArguments, read_arguments};
use crate::parse::dialect::{CallDialect, WRAPPERS};
use crate::parse::errors::ParseError;
use crate::parse::piece::{MessagePiece, WrittenForm};
use crate::parse::strings::{part, rest};
use crate::parse::tag::{MoreInput, Tag, TagName, TagRead};
use crate::parse::value::{ValueEnd, ValueKind, ValueScan};
use crate::parse::{build, nested, tag};

/// The parameters of the two wrappers.
pub(super) const PARAMETERS: [&str; 4] = ["server_name", "tool_name", "arguments", "uri"];

/// An open call. All offsets are relative to its first `<`.
#[derive(Debug)]
pub(super) struct CallScan {
    pub(super) form: WrittenForm,
    pub(super) element: String,
    pub(super) fields: Vec<CallField>,
    /// End of the opening tag.
    head: usize,
    cursor: usize,
    value: Option<ValueScan>,
    /// Whether it can only be a call, and not prose about the element.
    certain: bool,
    started: bool,
    empty: bool,
}

#[derive(Debug, Default)]
pub(super) struct CallField {
    pub(super) name: String,
    /// The value as it was written; empty if `parsed` is set.
    pub(super) text: String,
    /// The result of parsing the value as JSON, if it was scanned as JSON.
    pub(super) parsed: Option<Result<ParsedArguments, ParseError>>,
    pub(super) badly_closed: bool,
    pub(super) is_repeated: bool,
}

/// The result of scanning a call.
pub(super) enum CallStep {
    Wait,
    // The target is known, and the arguments still arrive.
    Started(MessagePiece),
    Closed { end: usize },
    // Not a call after all: the input up to `end` is text.
    Text { end: usize },
    // No later input can close the call.
    Unclosed { end: usize, missing: String },
}

impl CallScan {
    /// Creates the call that `tag` opens at the offset `at`.
    pub(super) fn new(form: WrittenForm, tag: &Tag<'_>, at: usize) -> Self {
        let head = tag.end - at;
        Self {
            form,
            element: tag.name.to_owned(),
            head,
            cursor: head,
            value: None,
            fields: Vec::new(),
            certain: false,
            started: false,
            empty: tag.empty,
        }
    }

    /// Scans further. `written` starts with the call.
    pub(super) fn advance(
        &mut self,
        written: &str,
        coming: MoreInput,
        dialect: &CallDialect,
        cuts: &mut u8,
    ) -> CallStep {
        if self.empty {
            return CallStep::Closed { end: self.head };
        }
        loop {
            if let Some(value) = &mut self.value {
                let end = value.advance(written, coming, &self.element);
                if end.is_none() && coming == MoreInput::Possible {
                    return CallStep::Wait;
                }
                if let Some(step) = self.end_value(end, written, cuts) {
                    return step;
                }
            }
            if let Some(step) = self.announce() {
                return step;
            }
            if let Some(step) = self.next_parameter(written, coming, dialect) {
                return step;
            }
        }
    }

    /// Scans for the next parameter or the end of the call.
    fn next_parameter(
        &mut self,
        written: &str,
        coming: MoreInput,
        dialect: &CallDialect,
    ) -> Option<CallStep> {
        let ahead = rest(written, self.cursor);
        let next = memchr(b'<', ahead.as_bytes());
        if !self.certain {
            let junk = next.map_or(ahead, |offset| part(ahead, 0, offset)).trim_start();
            // Words right after the opening tag: the model writes about the element.
            if !junk.is_empty() && !junk.starts_with('{') {
                return Some(CallStep::Text { end: self.head });
            }
            self.certain = !junk.is_empty();
        }
        let Some(offset) = next else {
            self.cursor = written.len();
            return Some(match coming {
                MoreInput::Never => self.unclosed_step(written, None),
                MoreInput::Possible => CallStep::Wait,
            });
        };
        let place = self.cursor + offset;
        self.cursor = place;
        match tag::read_tag(written, place, coming, |name| self.wants(name, dialect)) {
            TagRead::Wait => return Some(CallStep::Wait),
            TagRead::Other => {
                self.certain = true;
                self.cursor = place + 1;
            }
            TagRead::Tag(tag) if tag.closing => return Some(CallStep::Closed { end: tag.end }),
            TagRead::Tag(tag) if !self.is_parameter(tag.name) => {
                // Another call starts inside of this one, so this one was never completed.
                let end = place;
                return Some(match self.unclosed_step(written, None) {
                    CallStep::Unclosed { missing, .. } if !self.fields.is_empty() => {
                        CallStep::Unclosed { end, missing }
                    }
                    _ => CallStep::Text { end },
                });
            }
            TagRead::Tag(tag) => self.open_parameter(&tag, dialect),
        }
        None
    }

    fn open_parameter(&mut self, tag: &Tag<'_>, dialect: &CallDialect) {
        self.certain = true;
        self.cursor = tag.end;
        let name = tag.name.to_owned();
        if tag.empty {
            return self.keep(CallField { name, ..CallField::default() });
        }
        // Only JSON is scanned with strings in mind: in raw text, quotes come in odd numbers.
        let kind = match (self.form, tag.name) {
            (WrittenForm::Named, name) if nested::is_json(dialect.schema(&self.element), name) => {
                ValueKind::Json
            }
            (WrittenForm::Named, _) => ValueKind::Raw,
            (_, "arguments") => ValueKind::Json,
            _ => ValueKind::Word,
        };
        self.value = Some(ValueScan::new(name, kind, tag.end));
    }

    fn wants(&self, name: TagName<'_>, dialect: &CallDialect) -> bool {
        if name.closing {
            return name.fits(&self.element);
        }
        match self.form {
            WrittenForm::Named => true,
            // Another call may start in a call that was never closed.
            _ => PARAMETERS.iter().any(|known| name.fits(known)) || dialect.may_be_element(name),
        }
    }

    fn is_parameter(&self, name: &str) -> bool {
        match self.form {
            WrittenForm::Named => !WRAPPERS.contains(&name),
            _ => PARAMETERS.contains(&name),
        }
    }

    /// Stores the value. Without an `end`, the message ends inside of it.
    fn end_value(
        &mut self,
        end: Option<ValueEnd>,
        written: &str,
        cuts: &mut u8,
    ) -> Option<CallStep> {
        let value = self.value.take()?;
        let mut field = end.as_ref().map(|end| self.field(&value, end, written));
        let failed = field.as_ref().is_none_or(|field| matches!(field.parsed, Some(Err(_))));
        let mut after = end.as_ref().map(|end| end.after);
        // A stray quote hides the closing tag, so the scan runs past the end of the value. Cutting
        // at the first closing tag recovers the text after it, which is not part of the value.
        if failed
            && *cuts > 0
            && let Some(earlier) = value.first_close(written)
            && after.is_none_or(|after| earlier.after < after)
        {
            *cuts -= 1;
            field = Some(self.field(&value, &earlier, written));
            after = Some(earlier.after);
        }
        let (Some(field), Some(after)) = (field, after) else {
            return Some(self.unclosed_step(written, Some(&value.name)));
        };
        self.cursor = after;
        self.keep(CallField { name: value.name, ..field });
        None
    }

    fn field(&self, value: &ValueScan, end: &ValueEnd, written: &str) -> CallField {
        let text = part(written, value.start, end.value_end);
        let is_wrapped = self.form != WrittenForm::Named && value.name == "arguments";
        let parsed = (is_wrapped && value.is_json()).then(|| read_arguments(text));
        let text = if parsed.is_some() { String::new() } else { text.to_owned() };
        CallField { text, parsed, badly_closed: end.badly_closed, ..CallField::default() }
    }

    /// Stores a field. In a wrapper, the last occurrence of a parameter replaces earlier ones; for
    /// a tool, repeated elements form a list.
    fn keep(&mut self, mut field: CallField) {
        let same = |known: &CallField| known.name == field.name;
        if self.form != WrittenForm::Named
            && let Some(known) = self.fields.iter().position(same)
        {
            let before = self.fields.remove(known);
            field.badly_closed |= before.badly_closed;
            field.is_repeated = true;
        }
        self.fields.push(field);
    }

    /// Announces the call, once, as soon as its target is known.
    fn announce(&mut self) -> Option<CallStep> {
        if self.started {
            return None;
        }
        let has = |name: &str| self.fields.iter().any(|field| field.name == name);
        let opens = |name: &str| self.value.as_ref().is_some_and(|value| value.name == name);
        // Models write the parameters in any order, but arguments are the long part: announce the
        // call before them even if one of the two names is missing.
        let ready = match self.form {
            WrittenForm::Named => self.value.is_some(),
            WrittenForm::UseMcpTool => {
                has("server_name") && has("tool_name")
                    || opens("arguments") && (has("server_name") || has("tool_name"))
            }
            WrittenForm::AccessMcpResource => has("server_name") && (has("uri") || opens("uri")),
        };
        if !ready {
            return None;
        }
        self.started = true;
        let [server, tool] = match self.form {
            WrittenForm::Named => [None, Some(self.element.clone())],
            _ => ["server_name", "tool_name"].map(|name| build::field_word(&self.fields, name)),
        };
        Some(CallStep::Started(MessagePiece::Started { form: self.form, server, tool }))
    }

    fn unclosed_step(&self, written: &str, value: Option<&str>) -> CallStep {
        // The name of a tool may be an ordinary word in angle brackets.
        if self.form == WrittenForm::Named && self.fields.is_empty() && value.is_none() {
            return CallStep::Text { end: written.len() };
        }
        let close = format!("`</{}>`", self.element);
        let missing = match value {
            Some(name) => format!("`</{name}>` and then {close}"),
            None => close,
        };
        CallStep::Unclosed { end: written.len(), missing }
    }
}
