//! What came of a soak, for people.

use std::fmt;

/// What came of a soak.
#[derive(Clone, Debug, Default)]
pub struct SoakReport {
    /// Numbers under their names.
    pub rows: Vec<(String, String)>,
    /// The first things that were wrong.
    pub faults: Vec<String>,
    /// How many there were.
    pub fault_count: usize,
}

impl SoakReport {
    /// Whether nothing was wrong.
    #[must_use]
    pub const fn has_passed(&self) -> bool {
        self.fault_count == 0
    }
}

impl fmt::Display for SoakReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in &self.rows {
            writeln!(formatter, "{name:width$}  {value}")?;
        }
        for fault in &self.faults {
            writeln!(formatter, "fault: {fault}")?;
        }
        let verdict = if self.has_passed() { "PASS" } else { "FAIL" };
        write!(formatter, "{verdict}, {} faults", self.fault_count)
    }
}
