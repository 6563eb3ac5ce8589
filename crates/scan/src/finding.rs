//! Findings of the scanner: rule, severity, place and excerpt.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_text::excerpt_text;

// Thresholds for the sum of points: two weak indicators ask, two strong ones block.
pub(crate) const ASK_POINTS: u32 = 5;
pub(crate) const BLOCK_POINTS: u32 = 10;
// Several strong indicators together are not a mistake, so the whole server is quarantined.
const CLEAR_ATTACK_POINTS: u32 = 20;
const MAX_EXCERPT_CHARS: usize = 160;
// Shows what precedes the finding.
const EXCERPT_LEAD_BYTES: usize = 24;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Only reported, without any consequences.
    Inform,
    /// Calls need a person's approval.
    Ask,
    /// Quarantined until a person has reviewed it.
    Block,
}

impl Severity {
    /// Returns the name of the severity.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inform => "inform",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    pub(crate) const fn from_points(points: u32) -> Self {
        match points {
            BLOCK_POINTS.. => Self::Block,
            ASK_POINTS.. => Self::Ask,
            _ => Self::Inform,
        }
    }
}

/// One finding of the scanner in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ScanFinding")]
pub struct ScanFinding {
    /// The name of the scanner rule.
    pub rule: &'static str,
    /// The severity of this finding alone.
    pub severity: Severity,
    /// The points that it adds to those of other findings.
    #[serde(skip)]
    pub points: u32,
    /// A JSON pointer into the definition; empty for a single text.
    pub place: String,
    /// The text around the finding, with invisible characters escaped.
    pub excerpt: String,
    /// The hidden or encoded text, decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<String>,
}

/// Returns the severity of all findings together, if there are any.
#[must_use]
pub fn overall_severity<'a>(
    findings: impl IntoIterator<Item = &'a ScanFinding>,
) -> Option<Severity> {
    let points = findings.into_iter().map(|finding| finding.points);
    points.reduce(u32::saturating_add).map(Severity::from_points)
}

/// Returns whether the findings together cannot be a mistake.
#[must_use]
pub fn is_clear_attack<'a>(findings: impl IntoIterator<Item = &'a ScanFinding>) -> bool {
    let points = findings.into_iter().map(|finding| finding.points);
    points.fold(0, u32::saturating_add) >= CLEAR_ATTACK_POINTS
}

/// A suspicious part of a text, before it becomes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Indicator {
    pub rule: &'static str,
    pub points: u32,
    /// The byte offset in the text.
    pub at: usize,
    pub decoded: Option<String>,
}

impl Indicator {
    pub(crate) const fn new(rule: &'static str, points: u32, at: usize) -> Self {
        Self { rule, points, at, decoded: None }
    }

    pub(crate) fn into_finding(self, place: &str, text: &str) -> ScanFinding {
        ScanFinding {
            rule: self.rule,
            severity: Severity::from_points(self.points),
            points: self.points,
            place: place.to_owned(),
            excerpt: excerpt_around(text, self.at),
            decoded: self.decoded.map(|decoded| excerpt_text(&decoded, MAX_EXCERPT_CHARS)),
        }
    }
}

pub(crate) fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

fn excerpt_around(text: &str, at: usize) -> String {
    let from = text.floor_char_boundary(at.saturating_sub(EXCERPT_LEAD_BYTES));
    let shown = excerpt_text(text.get(from..).unwrap_or(text), MAX_EXCERPT_CHARS);
    if from == 0 { shown } else { format!("…{shown}") }
}
