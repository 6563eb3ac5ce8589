//! One entry of the journal as bytes, and back: the call, and what is new about it.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::{Outcome, OutcomeKind, TargetKind, Timeline};

use crate::bodies::{Body, Place};
use crate::call_id::CallId;
use crate::entry::{Intent, NewCall, VerdictWord};
use crate::group::{CloseRow, Details, IntentRow, Kept, News, Opening};
use crate::results::StoredResult;

/// What is read back.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) id: CallId,
    /// The call itself, in its first entry.
    pub(crate) opening: Option<Opening>,
    pub(crate) news: News,
}

/// Adds an entry to `out`. Nothing but intents and outcomes is kept in the journal.
pub(crate) fn write(out: &mut Vec<u8>, id: CallId, opening: Option<&Opening>, news: &News) -> bool {
    let mut to = Writer(out);
    to.number(id.get());
    to.maybe(opening, |to, opening| {
        to.number(opening.created_at);
        let NewCall { face, caller, server, kind, target, reference, .. } = &opening.call;
        for text in [face, caller, server, &Arc::from(kind.as_str()), target] {
            to.text(text);
        }
        to.body(&opening.arguments);
        to.maybe(reference.as_deref(), Writer::text);
    });
    match news {
        News::Intent(details, row) => {
            to.flag(true);
            to.details(details);
            let Intent { instance, attempt, fallback, .. } = &row.intent;
            to.number(row.at);
            to.number(i64::from(*attempt));
            to.maybe(instance.as_deref(), Writer::text);
            to.maybe(row.sent.as_ref(), Writer::body);
            to.maybe(fallback.as_deref(), Writer::text);
        }
        News::Close(details, row) => {
            to.flag(false);
            to.details(details);
            let Outcome { kind, reason, message, hint, .. } = &row.outcome;
            to.number(row.at);
            to.number(row.duration_us);
            to.text(kind.as_str());
            for text in [reason, message, hint] {
                to.maybe(text.as_deref(), Writer::text);
            }
            let result = row.result.as_ref().map(Kept::body);
            if result == Some(None) {
                return false;
            }
            to.maybe(result.flatten().as_ref(), Writer::body);
        }
        News::Late(_) | News::Task(..) | News::Timeline(_) => return false,
    }
    if let News::Intent(details, _) | News::Close(details, _) = news
        && let Some(timeline) = &details.timeline
    {
        // An entry without it ends here.
        to.text(&timeline.to_text());
    }
    true
}

/// Reads an entry back; none if it is none.
pub(crate) fn read(bytes: &Bytes) -> Option<Replayed> {
    let mut from = Reader(bytes.clone());
    let id = CallId(from.number()?);
    let opening = from.maybe(|from| {
        let created_at = from.number()?;
        let [face, caller, server] = [from.text()?, from.text()?, from.text()?];
        let kind = TargetKind::from_word(&from.text()?)?;
        let target = from.text()?;
        let arguments = from.body()?;
        let reference = from.maybe(Reader::text)?;
        // Where they are is told beside it.
        let given = Bytes::new();
        let call = NewCall { face, caller, server, kind, target, arguments: given, reference };
        Some(Opening { created_at, call, arguments })
    })?;
    let mut news = match from.flag()? {
        true => {
            let details = from.details()?;
            let (at, attempt) = (from.number()?, u32::try_from(from.number()?).ok()?);
            let instance = from.maybe(Reader::text)?;
            let sent = from.maybe(Reader::body)?;
            let fallback = from.maybe(Reader::text)?;
            let intent = Intent { instance, attempt, arguments: None, fallback };
            News::Intent(details, IntentRow { at, intent, sent })
        }
        false => {
            let details = from.details()?;
            let (at, duration_us) = (from.number()?, from.number()?);
            let kind: OutcomeKind = from.text()?.parse().ok()?;
            let mut word = || from.maybe(|from| Some(from.text()?.to_string()));
            let [reason, message, hint] = [word()?, word()?, word()?];
            let outcome = Outcome { kind, reason, message, hint, result: None, error: None };
            let result = from.maybe(Reader::body)?.map(|body| match body {
                Body::Here(text) => Kept::Row(StoredResult::Whole(text)),
                Body::There(place) => Kept::There(place),
            });
            News::Close(details, Box::new(CloseRow { at, duration_us, outcome, result }))
        }
    };
    if let News::Intent(details, _) | News::Close(details, _) = &mut news
        && !from.0.is_empty()
    {
        details.timeline = Timeline::from_text(&from.text()?).map(Box::new);
    }
    from.0.is_empty().then_some(Replayed { id, opening, news })
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn number(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Here(text) => {
                self.flag(true);
                self.bytes(text);
            }
            Body::There(place) => {
                self.flag(false);
                self.text(&place.to_string());
            }
        }
    }

    fn details(&mut self, details: &Details) {
        self.maybe(details.digest.as_deref(), Self::text);
        self.maybe(details.verdict.as_ref(), |to, (word, by)| {
            to.text(word.as_str());
            to.text(by);
        });
    }
}

struct Reader(Bytes);

impl Reader {
    fn part(&mut self, length: usize) -> Option<Bytes> {
        (length <= self.0.len()).then(|| self.0.split_to(length))
    }

    fn flag(&mut self) -> Option<bool> {
        match self.part(1)?.first() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.part(8)?.as_ref().try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.number()?).ok()?;
        self.part(length)
    }

    fn text(&mut self) -> Option<Arc<str>> {
        Some(std::str::from_utf8(&self.bytes()?).ok()?.into())
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.flag()? {
            true => read(self).map(Some),
            false => Some(None),
        }
    }

    fn body(&mut self) -> Option<Body> {
        Some(match self.flag()? {
            true => Body::Here(self.bytes()?),
            false => Body::There(self.text()?.parse::<Place>().ok()?),
        })
    }

    fn details(&mut self) -> Option<Details> {
        let digest = self.maybe(Self::text)?;
        let verdict =
            self.maybe(|from| Some((VerdictWord::from_word(&from.text()?)?, from.text()?)))?;
        Some(Details { digest, verdict, timeline: None })
    }
}
