//! Aligned columns for people, tab-separated lines for programs.

use std::fmt::Write as _;

use switchboard_text::escape_line;

/// No column is made narrower than this.
const MIN_COLUMN_WIDTH: usize = 12;

/// Who reads a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableReader {
    /// A person, at a terminal with so many columns.
    Person(usize),
    /// A program.
    Program,
}

/// Rows under a heading for a person; for a program rows alone, with tabs between.
pub(crate) fn table<const N: usize>(
    reader: TableReader,
    heading: [&str; N],
    rows: &[[String; N]],
) -> String {
    match reader {
        TableReader::Person(columns) => align_columns(columns, heading, rows),
        TableReader::Program => {
            let line = |row: &[String; N]| {
                let cells = row.each_ref().map(|cell| escape_line(cell).replace('\t', " "));
                format!("{}\n", cells.join("\t"))
            };
            rows.iter().map(line).collect()
        }
    }
}

fn align_columns<const N: usize>(
    columns: usize,
    heading: [&str; N],
    rows: &[[String; N]],
) -> String {
    let heading = heading.map(str::to_uppercase);
    let rows: Vec<[String; N]> = rows
        .iter()
        .map(|row| row.each_ref().map(|cell| escape_line(cell).replace('\t', " ")))
        .collect();
    let natural = |column: usize| {
        let cells = rows.iter().chain([&heading]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..N).map(natural).collect();
    // The widest column gives way until the line fits, or nothing more can.
    while widths.iter().map(|width| width + 2).sum::<usize>() > columns + 2 {
        match widths.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN_WIDTH => *widest -= 1,
            _ => break,
        }
    }
    let mut text = String::new();
    for row in [&heading].into_iter().chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a `String` cannot fail.
            _ = write!(line, "{:<width$}  ", truncate(cell, *width));
        }
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn truncate(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let head: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{head}…")
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
