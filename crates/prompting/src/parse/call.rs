//! A call that has been opened and not closed yet.

use memchr::memchr;

use crate::parse::arguments::{Arguments, read_arguments};
use crate::parse::dialect::{Dialect, WRAPPERS};
use crate::parse::errors::ParseError;
use crate::parse::piece::{Form, Piece};
use crate::parse::strings::{part, rest};
use crate::parse::tag::{Coming, Name, Read, Tag};
use crate::parse::value::{Kind, ValueEnd, ValueScan};
use crate::parse::{build, nested, tag};

/// The parameters of the two wrappers.
pub(super) const PARAMETERS: [&str; 4] = ["server_name", "tool_name", "arguments", "uri"];

/// An open call. All offsets count from its first `<`.
#[derive(Debug)]
pub(super) struct OpenCall {
    form: Form,
    element: String,
    /// Where the text after the opening tag begins.
    head: usize,
    cursor: usize,
    value: Option<ValueScan>,
    fields: Vec<Field>,
    /// Whether anything was seen that only a call has.
    certain: bool,
    started: bool,
    empty: bool,
}

/// A parameter with its value.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// The value as it was written; empty if it was read already.
    pub(super) text: String,
    /// The value, if it was read as JSON already.
    pub(super) parsed: Option<Result<Arguments, ParseError>>,
    /// Whether its closing tag was missing or wrong.
    pub(super) badly_closed: bool,
    /// Whether it was given before.
    pub(super) again: bool,
}

/// What became of the call.
pub(super) enum Step {
    /// More input is needed.
    Wait,
    /// Its names are known.
    Started(Piece),
    /// It is complete and ends here.
    Closed { end: usize },
    /// It is no call; up to here it is text.
    Text { end: usize },
    /// It was not closed, and can no longer be.
    Unclosed { end: usize, missing: String },
}

impl OpenCall {
    /// The call that `tag` at the offset `at` opens.
    pub(super) fn new(form: Form, tag: &Tag<'_>, at: usize) -> Self {
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

    pub(super) const fn form(&self) -> Form {
        self.form
    }

    pub(super) fn element(&self) -> &str {
        &self.element
    }

    /// Takes the parameters out.
    pub(super) fn take_fields(&mut self) -> Vec<Field> {
        std::mem::take(&mut self.fields)
    }

    /// Reads on. `written` begins with the call.
    pub(super) fn advance(
        &mut self,
        written: &str,
        coming: Coming,
        dialect: &Dialect,
        cuts: &mut u8,
    ) -> Step {
        if self.empty {
            return Step::Closed { end: self.head };
        }
        loop {
            if let Some(value) = &mut self.value {
                let end = value.advance(written, coming, &self.element);
                if end.is_none() && coming == Coming::More {
                    return Step::Wait;
                }
                if let Some(step) = self.end_value(end, written, cuts) {
                    return step;
                }
            }
            if let Some(step) = self.start() {
                return step;
            }
            if let Some(step) = self.between(written, coming, dialect) {
                return step;
            }
        }
    }

    /// Looks for the next parameter or the end of the call.
    fn between(&mut self, written: &str, coming: Coming, dialect: &Dialect) -> Option<Step> {
        let ahead = rest(written, self.cursor);
        let next = memchr(b'<', ahead.as_bytes());
        if !self.certain {
            let junk = next.map_or(ahead, |offset| part(ahead, 0, offset)).trim_start();
            // Words right after the opening tag: someone writes about the element.
            if !junk.is_empty() && !junk.starts_with('{') {
                return Some(Step::Text { end: self.head });
            }
            self.certain = !junk.is_empty();
        }
        let Some(offset) = next else {
            self.cursor = written.len();
            return Some(if coming == Coming::Nothing {
                self.unclosed(written, None)
            } else {
                Step::Wait
            });
        };
        let place = self.cursor + offset;
        self.cursor = place;
        match tag::read(written, place, coming, |name| self.wants(name, dialect)) {
            Read::Wait => return Some(Step::Wait),
            Read::Other => {
                self.certain = true;
                self.cursor = place + 1;
            }
            Read::Tag(tag) if tag.closing => return Some(Step::Closed { end: tag.end }),
            Read::Tag(tag) if !self.is_parameter(tag.name) => {
                // Another call begins inside of this one, so this one was never finished.
                let end = place;
                return Some(match self.unclosed(written, None) {
                    Step::Unclosed { missing, .. } if !self.fields.is_empty() => {
                        Step::Unclosed { end, missing }
                    }
                    _ => Step::Text { end },
                });
            }
            Read::Tag(tag) => self.open_parameter(&tag, dialect),
        }
        None
    }

    fn open_parameter(&mut self, tag: &Tag<'_>, dialect: &Dialect) {
        self.certain = true;
        self.cursor = tag.end;
        let name = tag.name.to_owned();
        if tag.empty {
            let text = String::new();
            self.keep(Field { name, text, parsed: None, badly_closed: false, again: false });
            return;
        }
        let kind = match (self.form, tag.name) {
            (Form::Named, name) if nested::is_json(dialect.schema(&self.element), name) => {
                Kind::Json
            }
            (Form::Named, _) => Kind::Raw,
            (_, "arguments") => Kind::Json,
            _ => Kind::Word,
        };
        self.value = Some(ValueScan::new(name, kind, tag.end));
    }

    fn wants(&self, name: Name<'_>, dialect: &Dialect) -> bool {
        if name.closing {
            return name.fits(&self.element);
        }
        match self.form {
            Form::Named => true,
            _ => PARAMETERS.iter().any(|known| name.fits(known)) || dialect.knows(name),
        }
    }

    fn is_parameter(&self, name: &str) -> bool {
        match self.form {
            Form::Named => !WRAPPERS.contains(&name),
            _ => PARAMETERS.contains(&name),
        }
    }

    /// Keeps the value, cut short if only that makes sense of it. Without an `end` the message ends
    /// inside of it.
    fn end_value(&mut self, end: Option<ValueEnd>, written: &str, cuts: &mut u8) -> Option<Step> {
        let value = self.value.take()?;
        let mut field = end.as_ref().map(|end| self.field(&value, end, written));
        let failed = field.as_ref().is_none_or(|field| matches!(field.parsed, Some(Err(_))));
        let mut after = end.as_ref().map(|end| end.after);
        if failed
            && *cuts > 0
            && let Some(earlier) = value.first_close(written)
            && after.is_none_or(|after| earlier.after < after)
        {
            // A stray quote hid the closing tag: what follows it is not a part of the value.
            *cuts -= 1;
            field = Some(self.field(&value, &earlier, written));
            after = Some(earlier.after);
        }
        let (Some(field), Some(after)) = (field, after) else {
            return Some(self.unclosed(written, Some(&value.name)));
        };
        self.cursor = after;
        self.keep(Field { name: value.name, ..field });
        None
    }

    /// The value without its name.
    fn field(&self, value: &ValueScan, end: &ValueEnd, written: &str) -> Field {
        let text = part(written, value.start, end.value_end);
        let is_wrapped = self.form != Form::Named && value.name == "arguments";
        let parsed = (is_wrapped && value.is_json()).then(|| read_arguments(text));
        let text = if parsed.is_some() { String::new() } else { text.to_owned() };
        let badly_closed = end.badly_closed;
        Field { name: String::new(), text, parsed, badly_closed, again: false }
    }

    /// The wrappers have each parameter once and the last one counts; a tool may have lists.
    fn keep(&mut self, mut field: Field) {
        let same = |known: &Field| known.name == field.name;
        if self.form != Form::Named
            && let Some(known) = self.fields.iter().position(same)
        {
            let before = self.fields.remove(known);
            field.badly_closed |= before.badly_closed;
            field.again = true;
        }
        self.fields.push(field);
    }

    /// The piece that announces the call, once.
    fn start(&mut self) -> Option<Step> {
        if self.started {
            return None;
        }
        let has = |name: &str| self.fields.iter().any(|field| field.name == name);
        let opens = |name: &str| self.value.as_ref().is_some_and(|value| value.name == name);
        let ready = match self.form {
            Form::Named => self.value.is_some(),
            Form::UseMcpTool => {
                has("server_name") && has("tool_name")
                    || opens("arguments") && (has("server_name") || has("tool_name"))
            }
            Form::AccessMcpResource => has("server_name") && (has("uri") || opens("uri")),
        };
        if !ready {
            return None;
        }
        self.started = true;
        let [server, tool] = ["server_name", "tool_name"].map(|name| match self.form {
            Form::Named => None,
            _ => build::word(&self.fields, name),
        });
        let tool = if self.form == Form::Named { Some(self.element.clone()) } else { tool };
        Some(Step::Started(Piece::Started { form: self.form, server, tool }))
    }

    fn unclosed(&self, written: &str, value: Option<&str>) -> Step {
        // The name of a tool may well be an ordinary word in brackets.
        if self.form == Form::Named && self.fields.is_empty() && value.is_none() {
            return Step::Text { end: written.len() };
        }
        let close = format!("`</{}>`", self.element);
        let missing = match value {
            Some(name) => format!("`</{name}>` and then {close}"),
            None => close,
        };
        Step::Unclosed { end: written.len(), missing }
    }
}
