//! Binary encoding of journal entries: the call and its update.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::{Outcome, OutcomeKind, TargetKind, Timeline};

use crate::bodies::{BodyPlace, StoredBody};
use crate::call_id::CallId;
use crate::entry::{Intent, NewCall, VerdictWord};
use crate::group::{CallOpening, CloseRow, DecisionDetails, IntentRow, ResultBody, RowUpdate};
use crate::results::StoredResult;

#[derive(Debug)]
pub(crate) struct JournalEntry {
    pub(crate) id: CallId,
    /// Present only in the first entry of a call.
    pub(crate) opening: Option<CallOpening>,
    pub(crate) news: RowUpdate,
}

/// Appends an entry to `out`. Returns false if the update cannot be journaled: only intents and
/// outcomes whose result is complete can.
pub(crate) fn write(
    out: &mut Vec<u8>,
    id: CallId,
    opening: Option<&CallOpening>,
    news: &RowUpdate,
) -> bool {
    let mut to = EntryEncoder(out);
    to.number(id.get());
    to.maybe(opening, |to, opening| {
        to.number(opening.created_at);
        let NewCall { face, caller, server, kind, target, reference, .. } = &opening.call;
        for text in [face, caller, server, &Arc::from(kind.as_str()), target] {
            to.text(text);
        }
        to.body(&opening.arguments);
        to.maybe(reference.as_deref(), EntryEncoder::text);
    });
    match news {
        RowUpdate::Intent(details, row) => {
            to.flag(true);
            to.details(details);
            let Intent { instance, attempt, fallback, .. } = &row.intent;
            to.number(row.at);
            to.number(i64::from(*attempt));
            to.maybe(instance.as_deref(), EntryEncoder::text);
            to.maybe(row.sent.as_ref(), EntryEncoder::body);
            to.maybe(fallback.as_deref(), EntryEncoder::text);
        }
        RowUpdate::Close(details, row) => {
            to.flag(false);
            to.details(details);
            let Outcome { kind, reason, message, hint, .. } = &row.outcome;
            to.number(row.at);
            to.number(row.duration_us);
            to.text(kind.as_str());
            for text in [reason, message, hint] {
                to.maybe(text.as_deref(), EntryEncoder::text);
            }
            let result = row.result.as_ref().map(ResultBody::body);
            // The journal has no encoding for the two ends of a truncated result.
            if result == Some(None) {
                return false;
            }
            to.maybe(result.flatten().as_ref(), EntryEncoder::body);
        }
        RowUpdate::Late(_) | RowUpdate::Task(..) | RowUpdate::Timeline(_) => return false,
    }
    if let RowUpdate::Intent(details, _) | RowUpdate::Close(details, _) = news
        && let Some(timeline) = &details.timeline
    {
        // Last and without a flag: an entry without a timeline ends here.
        to.text(&timeline.to_text());
    }
    true
}

/// Decodes an entry, or returns `None` if it is malformed.
pub(crate) fn read(bytes: &Bytes) -> Option<JournalEntry> {
    let mut from = EntryDecoder(bytes.clone());
    let id = CallId(from.number()?);
    let opening = from.maybe(|from| {
        let created_at = from.number()?;
        let [face, caller, server] = [from.text()?, from.text()?, from.text()?];
        let kind = TargetKind::from_word(&from.text()?)?;
        let target = from.text()?;
        let arguments = from.body()?;
        let reference = from.maybe(EntryDecoder::text)?;
        // The arguments, or their place in a body file, are in `CallOpening::arguments`.
        let given = Bytes::new();
        let call = NewCall { face, caller, server, kind, target, arguments: given, reference };
        Some(CallOpening { created_at, call, arguments })
    })?;
    let mut news = match from.flag()? {
        true => {
            let details = from.details()?;
            let at = from.number()?;
            let attempt = u32::try_from(from.number()?).ok()?;
            let instance = from.maybe(EntryDecoder::text)?;
            let sent = from.maybe(EntryDecoder::body)?;
            let fallback = from.maybe(EntryDecoder::text)?;
            let intent = Intent { instance, attempt, arguments: None, fallback };
            RowUpdate::Intent(details, IntentRow { at, intent, sent })
        }
        false => {
            let details = from.details()?;
            let at = from.number()?;
            let duration_us = from.number()?;
            let kind: OutcomeKind = from.text()?.parse().ok()?;
            let mut word = || from.maybe(|from| Some(from.text()?.to_string()));
            let [reason, message, hint] = [word()?, word()?, word()?];
            let outcome = Outcome { kind, reason, message, hint, result: None, error: None };
            let result = from.maybe(EntryDecoder::body)?.map(|body| match body {
                StoredBody::Inline(text) => ResultBody::Row(StoredResult::Whole(text)),
                StoredBody::InFile(place) => ResultBody::InFile(place),
            });
            RowUpdate::Close(details, Box::new(CloseRow { at, duration_us, outcome, result }))
        }
    };
    if let RowUpdate::Intent(details, _) | RowUpdate::Close(details, _) = &mut news
        && !from.0.is_empty()
    {
        details.timeline = Timeline::from_text(&from.text()?).map(Box::new);
    }
    from.0.is_empty().then_some(JournalEntry { id, opening, news })
}

struct EntryEncoder<'a>(&'a mut Vec<u8>);

impl EntryEncoder<'_> {
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

    fn body(&mut self, body: &StoredBody) {
        match body {
            StoredBody::Inline(text) => {
                self.flag(true);
                self.bytes(text);
            }
            StoredBody::InFile(place) => {
                self.flag(false);
                self.text(&place.to_string());
            }
        }
    }

    fn details(&mut self, details: &DecisionDetails) {
        self.maybe(details.digest.as_deref(), Self::text);
        self.maybe(details.verdict.as_ref(), |to, (word, by)| {
            to.text(word.as_str());
            to.text(by);
        });
    }
}

struct EntryDecoder(Bytes);

impl EntryDecoder {
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

    fn body(&mut self) -> Option<StoredBody> {
        Some(match self.flag()? {
            true => StoredBody::Inline(self.bytes()?),
            false => StoredBody::InFile(self.text()?.parse::<BodyPlace>().ok()?),
        })
    }

    fn details(&mut self) -> Option<DecisionDetails> {
        let digest = self.maybe(Self::text)?;
        let verdict =
            self.maybe(|from| Some((VerdictWord::from_word(&from.text()?)?, from.text()?)))?;
        Some(DecisionDetails { digest, verdict, timeline: None })
    }
}
