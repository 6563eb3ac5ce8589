//! Tables: all rows together, in columns that fit.

use console::measure_text_width;
use switchboard_text::escape_prose_line;

use super::inline::Inline;
use super::style::{Paint, TextStyle};
use super::wrap::SpanSink;

/// Columns between two cells.
const CELL_GAP: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Centre,
}

/// Whether a row says that the row above it is the heading of a table.
pub(super) fn is_ruler(heading: &str, row: &str) -> bool {
    let marks = cells(row);
    marks.len() == cells(heading).len() && marks.iter().all(|cell| align(cell).is_some())
}

/// The lines of a table; the second row is its ruler. Nothing if it cannot be made to fit.
pub(super) fn lines(rows: &[String], room: usize, paint: Paint) -> Option<Vec<String>> {
    let [heading, ruler, body @ ..] = rows else { return None };
    let aligns: Vec<Align> = cells(ruler).iter().filter_map(|cell| align(cell)).collect();
    let columns = aligns.len();
    let row = |text: &String, base: TextStyle| -> Vec<TableCell> {
        fit_cells(cells(text), columns)
            .iter()
            .map(|cell| TableCell::new(cell, base, paint))
            .collect()
    };
    let heading = row(heading, TextStyle::BOLD);
    let body: Vec<Vec<TableCell>> = body.iter().map(|text| row(text, TextStyle::PLAIN)).collect();
    let mut natural = vec![1; columns];
    for cells in body.iter().chain([&heading]) {
        for (width, cell) in natural.iter_mut().zip(cells) {
            *width = cell.width().max(*width);
        }
    }
    let widths = shrink_widths(natural, room.checked_sub(CELL_GAP * columns.saturating_sub(1))?)?;
    let separator = paint.paint(TextStyle::DIM, " │ ");
    let line = |cells: &Vec<TableCell>| -> String {
        let shown = cells.iter().zip(&widths).zip(&aligns);
        let shown: Vec<String> =
            shown.map(|((cell, width), align)| cell.render(*width, *align, paint)).collect();
        shown.join(&separator).trim_end().to_owned()
    };
    let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let ruler = paint.paint(TextStyle::DIM, &dashes.join("─┼─"));
    Some([line(&heading), ruler].into_iter().chain(body.iter().map(line)).collect())
}

/// The texts between the bars of a row.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = row.trim().strip_prefix('|').unwrap_or(row).chars().peekable();
    while let Some(c) = chars.next() {
        match (c, cells.last_mut()) {
            ('\\', Some(cell)) if chars.next_if_eq(&'|').is_some() => cell.push('|'),
            ('|', _) => cells.push(String::new()),
            (_, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    // The bar at the end closes a cell and opens none.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn align(cell: &str) -> Option<Align> {
    let dashes = cell.strip_prefix(':').unwrap_or(cell);
    let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
    if dashes.is_empty() || dashes.chars().any(|c| c != '-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Align::Centre,
        (false, true) => Align::Right,
        (_, false) => Align::Left,
    })
}

/// So many cells; what is too much goes into the last one, so that nothing is lost.
fn fit_cells(mut cells: Vec<String>, columns: usize) -> Vec<String> {
    let more = cells.split_off(columns.min(cells.len()));
    cells.resize(columns, String::new());
    if let Some(last) = cells.last_mut().filter(|_| !more.is_empty()) {
        *last = format!("{last} | {}", more.join(" | "));
    }
    cells
}

/// Widths that fit: the widest columns give way, all to the same width.
fn shrink_widths(natural: Vec<usize>, room: usize) -> Option<Vec<usize>> {
    let sum = |limit: usize| natural.iter().map(|width| *width.min(&limit)).sum::<usize>();
    if sum(usize::MAX) <= room {
        return Some(natural);
    }
    let mut fits = 0;
    let mut too_wide = room + 1;
    while too_wide - fits > 1 {
        let middle = fits.midpoint(too_wide);
        if sum(middle) <= room { fits = middle } else { too_wide = middle }
    }
    // What is left over goes to the first columns that can use it.
    let mut left = room.checked_sub(sum(fits))?;
    let widths = natural.iter().map(|width| {
        let more = usize::from(*width > fits && left > 0);
        left -= more;
        *width.min(&fits) + more
    });
    (fits > 0).then(|| widths.collect())
}

/// The text of a cell with its looks.
struct TableCell {
    pieces: Vec<(TextStyle, String)>,
    paint: Paint,
}

impl TableCell {
    fn new(text: &str, base: TextStyle, paint: Paint) -> Self {
        let mut cell = Self { pieces: Vec::new(), paint };
        let mut inline = Inline::default();
        inline.begin(base);
        text.chars().for_each(|c| inline.push(c, &mut cell));
        inline.finish(&mut cell);
        for (_, text) in &mut cell.pieces {
            *text = escape_prose_line(text).replace('\t', " ");
        }
        cell
    }

    fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| measure_text_width(text)).sum()
    }

    /// The cell in so many columns.
    fn render(&self, room: usize, align: Align, paint: Paint) -> String {
        let mut out = String::new();
        let mut used = self.width();
        if used > room {
            used = self.cut(room.saturating_sub(1), paint, &mut out) + 1;
            out.push('…');
        } else {
            for (style, text) in &self.pieces {
                paint.write(&mut out, *style, text);
            }
        }
        let blank = room.saturating_sub(used);
        let before = match align {
            Align::Left => 0,
            Align::Right => blank,
            Align::Centre => blank / 2,
        };
        format!("{}{out}{}", " ".repeat(before), " ".repeat(blank - before))
    }

    /// Writes as much as fits, and says how wide that is.
    fn cut(&self, room: usize, paint: Paint, out: &mut String) -> usize {
        let mut used = 0;
        for (style, text) in &self.pieces {
            let mut kept = String::new();
            for c in text.chars() {
                let width = measure_text_width(c.encode_utf8(&mut [0; 4]));
                if used + width > room {
                    paint.write(out, *style, &kept);
                    return used;
                }
                used += width;
                kept.push(c);
            }
            paint.write(out, *style, &kept);
        }
        used
    }
}

impl SpanSink for TableCell {
    fn character(&mut self, c: char, style: TextStyle) {
        match self.pieces.last_mut() {
            Some((last, text)) if *last == style => text.push(c),
            _ => self.pieces.push((style, c.to_string())),
        }
    }

    fn space(&mut self) {
        self.character(' ', TextStyle::PLAIN);
    }

    fn line_break(&mut self) {
        self.space();
    }

    fn paint(&self) -> Paint {
        self.paint
    }
}
