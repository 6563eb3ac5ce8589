//! Aligned columns for people, tab-separated lines for programs.

use std::fmt::Write as _;

use switchboard_host::format::escape_line;

/// The longest cell that is shown whole.
const CELL: usize = 72;

/// Rows under a heading; without a terminal, rows alone with tabs between.
pub(crate) fn table<const N: usize>(
    terminal: bool,
    heading: [&str; N],
    rows: &[[String; N]],
) -> String {
    let mut text = String::new();
    if !terminal {
        for row in rows {
            let cells = row.each_ref().map(|cell| escape_line(cell).replace('\t', " "));
            // Writing to a `String` cannot fail.
            _ = writeln!(text, "{}", cells.join("\t"));
        }
        return text;
    }
    let heading = heading.map(str::to_uppercase);
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| cut(&escape_line(cell)))).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&heading]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in [&heading].into_iter().chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            _ = write!(line, "{cell:<width$}  ");
        }
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn cut(text: &str) -> String {
    if text.chars().count() <= CELL {
        return text.to_owned();
    }
    let head: String = text.chars().take(CELL - 1).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn people_get_columns_and_programs_get_tabs() {
        let rows = [
            ["a".to_owned(), "one".to_owned()],
            ["long name".to_owned(), "t\tw\u{1b}[2J".to_owned()],
        ];
        assert_eq!(
            table(true, ["name", "what"], &rows),
            "NAME       WHAT\na          one\nlong name  t\tw\\e[2J\n"
        );
        assert_eq!(table(false, ["name", "what"], &rows), "a\tone\nlong name\tt w\\e[2J\n");
    }
}
