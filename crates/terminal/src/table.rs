//! Aligned columns for people, tab-separated lines for programs.

use console::{Alignment, measure_text_width, pad_str, truncate_str};
use switchboard_text::escape_line;

const MIN_COLUMN_WIDTH: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableReader {
    /// A person, at a terminal with this number of columns.
    Person(usize),
    Program,
}

/// Formats rows: aligned under a heading for a person, tab-separated without one for a program.
pub(crate) fn table<const N: usize>(
    reader: TableReader,
    heading: [&str; N],
    rows: &[[String; N]],
) -> String {
    match reader {
        TableReader::Person(columns) => align_columns(columns, heading, rows),
        TableReader::Program => {
            rows.iter().map(|row| format!("{}\n", escape_row(row).join("\t"))).collect()
        }
    }
}

fn align_columns<const N: usize>(
    columns: usize,
    heading: [&str; N],
    rows: &[[String; N]],
) -> String {
    let mut lines = vec![heading.map(str::to_uppercase)];
    lines.extend(rows.iter().map(escape_row));
    let natural = |column: usize| {
        let cells = lines.iter().filter_map(|row| row.get(column));
        cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..N).map(natural).collect();
    // Shrink the widest column until the line fits, or all columns have the minimum width.
    while widths.iter().map(|width| width + 2).sum::<usize>() > columns + 2 {
        match widths.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN_WIDTH => *widest -= 1,
            _ => break,
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| {
                let cell = truncate_str(cell, *width, "…");
                pad_str(&cell, *width, Alignment::Left, None).into_owned()
            })
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

fn escape_row<const N: usize>(row: &[String; N]) -> [String; N] {
    // A tab in a cell would shift the columns that a program reads.
    row.each_ref().map(|cell| escape_line(cell).replace('\t', " "))
}

#[cfg(test)]
mod tests {
    use super::{TableReader, table};

    fn rows() -> [[String; 2]; 2] {
        [
            ["a".to_owned(), "one".to_owned()],
            ["long name".to_owned(), "t\tw\u{1b}[2J and much more to say".to_owned()],
        ]
    }

    #[test]
    fn people_get_columns_that_fit_their_terminal() {
        assert_eq!(
            table(TableReader::Person(80), ["name", "what"], &rows()),
            "NAME       WHAT\na          one\nlong name  t w\\e[2J and much more to say\n"
        );
        assert_eq!(
            table(TableReader::Person(24), ["name", "what"], &rows()),
            "NAME       WHAT\na          one\nlong name  t w\\e[2J and…\n"
        );
    }

    #[test]
    fn programs_get_tabs() {
        assert_eq!(
            table(TableReader::Program, ["name", "what"], &rows()),
            "a\tone\nlong name\tt w\\e[2J and much more to say\n"
        );
    }
}
