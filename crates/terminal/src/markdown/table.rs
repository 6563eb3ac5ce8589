//! Lays out tables in columns that fit the available width.

use console::{Alignment as Side, Style, measure_text_width, pad_str, truncate_str};
use pulldown_cmark::Alignment;

const CELL_GAP: usize = 3;

/// A table; its first row is the heading.
#[derive(Debug, Default)]
pub(super) struct AlignedTable {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<String>>,
}

impl AlignedTable {
    /// Returns the lines of the table; cells that do not fit are truncated.
    pub(super) fn lines(&self, room: usize, dim: &Style) -> Vec<String> {
        let Some(widths) = self.widths(room) else {
            // More columns than fit: aligning them would leave nothing of the cells.
            return self.rows.iter().map(|row| row.join(" | ")).collect();
        };
        let separator = dim.apply_to(" │ ").to_string();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).zip(&self.alignments);
            let cells = cells.map(|((cell, width), alignment)| {
                let side = match alignment {
                    Alignment::None | Alignment::Left => Side::Left,
                    Alignment::Right => Side::Right,
                    Alignment::Center => Side::Center,
                };
                pad_str(&truncate_str(cell, *width, "…"), *width, side, None).into_owned()
            });
            cells.collect::<Vec<_>>().join(&separator).trim_end().to_owned()
        };
        let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let ruler = dim.apply_to(dashes.join("─┼─")).to_string();
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        lines.insert(lines.len().min(1), ruler);
        lines
    }

    /// Returns column widths that fit: the widest columns shrink to a common width.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let mut natural = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in natural.iter_mut().zip(row) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        let room = room.checked_sub(CELL_GAP * natural.len().saturating_sub(1))?;
        let sum = |limit: usize| natural.iter().map(|width| *width.min(&limit)).sum::<usize>();
        if sum(usize::MAX) <= room {
            return Some(natural);
        }
        let limit = (1..=room).rev().find(|limit| sum(*limit) <= room)?;
        // The remainder goes to the first columns that can use it.
        let mut left = room - sum(limit);
        let widths = natural.iter().map(|width| {
            let more = usize::from(*width > limit && left > 0);
            left -= more;
            *width.min(&limit) + more
        });
        Some(widths.collect())
    }
}
