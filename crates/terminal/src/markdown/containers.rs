//! What a block stands in: quotes and list items, and what they put before each line.

use console::measure_text_width;

use super::style::{Paint, TextStyle};
use super::wrap::Prefix;

/// What is nested deeper is text.
const MAX_DEPTH: usize = 8;

/// A list item goes on in lines that are indented this much more than its marker.
const ITEM_INDENT: usize = 2;

#[derive(Debug)]
enum Container {
    Quote,
    Item {
        /// The column of its marker, from the beginning of the line or the last quote mark.
        indent: usize,
        marker: String,
        shown: bool,
    },
}

/// The containers of the current line, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Containers(Vec<Container>);

/// How far the beginning of a line has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineStart {
    /// How many containers the line is known to be in.
    pub(super) inside: usize,
    /// Columns of white space, from the beginning of the line or the last quote mark.
    pub(super) indent: usize,
    /// What was read last.
    pub(super) after: After,
}

/// What was read last at the beginning of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing, or white space.
    #[default]
    Nothing,
    /// A quote mark; one space belongs to it.
    Quote,
    /// The marker of a list item.
    Marker,
}

impl Containers {
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) const fn is_full(&self) -> bool {
        self.0.len() >= MAX_DEPTH
    }

    pub(super) fn quotes(&self) -> usize {
        self.0.iter().filter(|container| matches!(container, Container::Quote)).count()
    }

    /// How many containers a line is in, as its indentation says.
    pub(super) fn depth_reached(&self, start: LineStart) -> usize {
        let goes_on = |container: &&Container| match container {
            Container::Quote => false,
            Container::Item { indent, .. } => start.indent >= indent + ITEM_INDENT,
        };
        start.inside + self.0.iter().skip(start.inside).take_while(goes_on).count()
    }

    /// Whether a line that reaches only so far has left a quote.
    pub(super) fn leaves_quote(&self, reached: usize) -> bool {
        self.0.iter().skip(reached).any(|container| matches!(container, Container::Quote))
    }

    /// Whether the next container is a quote.
    pub(super) fn is_quote(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Container::Quote))
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Leaves the quotes that a blank line does not mark; items go on over it.
    pub(super) fn leave_quotes(&mut self, start: LineStart) {
        let rest = self.0.iter().skip(start.inside);
        let items = rest.take_while(|container| !matches!(container, Container::Quote)).count();
        self.0.truncate(start.inside + items);
    }

    pub(super) fn push_quote(&mut self) {
        self.0.push(Container::Quote);
    }

    pub(super) fn push_item(&mut self, indent: usize, marker: String) {
        self.0.push(Container::Item { indent, marker, shown: false });
    }

    /// The innermost item is a task.
    pub(super) fn mark_task(&mut self, sign: &str) {
        if let Some(Container::Item { marker, .. }) = self.0.last_mut() {
            // A number says more than a bullet, so it stays.
            *marker =
                if marker.starts_with('•') { sign.to_owned() } else { format!("{marker}{sign}") };
        }
    }

    /// What stands before the next line, with the markers that are still due, and before the rest.
    pub(super) fn prefixes(&mut self, paint: Paint) -> (Prefix, Prefix) {
        let mut first = Prefix::default();
        let mut rest = Prefix::default();
        for container in &mut self.0 {
            match container {
                Container::Quote => {
                    for prefix in [&mut first, &mut rest] {
                        paint.write(&mut prefix.text, TextStyle::DIM, "│");
                        prefix.text.push(' ');
                        prefix.width += 2;
                    }
                }
                Container::Item { marker, shown, .. } => {
                    let width = measure_text_width(marker);
                    let blank = " ".repeat(width);
                    first.text.push_str(if *shown { &blank } else { marker });
                    rest.text.push_str(&blank);
                    first.width += width;
                    rest.width += width;
                    *shown = true;
                }
            }
        }
        (first, rest)
    }

    /// How many columns stand before each line.
    pub(super) fn prefixes_width(&self) -> usize {
        let width = |container: &Container| match container {
            Container::Quote => 2,
            Container::Item { marker, .. } => measure_text_width(marker),
        };
        self.0.iter().map(width).sum()
    }

    /// What a blank line shows.
    pub(super) fn blank(&self, paint: Paint) -> String {
        let mut text = String::new();
        for container in &self.0 {
            match container {
                Container::Quote => {
                    paint.write(&mut text, TextStyle::DIM, "│");
                    text.push(' ');
                }
                Container::Item { marker, .. } => {
                    text.push_str(&" ".repeat(measure_text_width(marker)));
                }
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}
