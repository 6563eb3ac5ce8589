//! What a terminal shows: enough of its control sequences for menus, tables and progress lines.

/// Rows of a terminal that is wide enough for every line.
#[derive(Default)]
pub(super) struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Screen after this output. A sequence that is not complete yet is ignored.
    pub(super) fn after(output: &[u8]) -> Self {
        let mut screen = Self::default();
        let text = String::from_utf8_lossy(output);
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\n' => screen.row += 1,
                '\r' => screen.column = 0,
                '\t' => screen.column = (screen.column / 8 + 1) * 8,
                '\u{8}' => screen.column = screen.column.saturating_sub(1),
                '\u{1b}' => match rest.next() {
                    Some('[') => screen.control(&mut rest),
                    Some(']') => {
                        rest.find(|c| *c == '\u{7}');
                    }
                    Some(_) | None => {}
                },
                c if c.is_control() => {}
                c => screen.put(c),
            }
        }
        screen
    }

    /// Lines from top to bottom, without spaces and empty lines at the end.
    pub(super) fn lines(&self) -> Vec<String> {
        let shown = |row: &Vec<char>| row.iter().collect::<String>().trim_end().to_owned();
        let mut lines: Vec<String> = self.rows.iter().map(shown).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// Row of the cursor, and what is written there.
    pub(super) fn cursor_line(&self) -> (usize, String) {
        let row = self.rows.get(self.row).map(|row| row.iter().collect::<String>());
        (self.row, row.unwrap_or_default().trim_end().to_owned())
    }

    fn control(&mut self, rest: &mut std::str::Chars<'_>) {
        let mut number = String::new();
        let kind = rest.by_ref().find(|c| {
            number.push(*c);
            ('@'..='~').contains(c)
        });
        number.pop();
        let count = number.parse::<usize>().unwrap_or(1).max(1);
        match kind {
            Some('A') => self.row = self.row.saturating_sub(count),
            Some('B') => self.row += count,
            Some('C') => self.column += count,
            Some('D') => self.column = self.column.saturating_sub(count),
            Some('E') => {
                self.row += count;
                self.column = 0;
            }
            Some('F') => {
                self.row = self.row.saturating_sub(count);
                self.column = 0;
            }
            Some('G') => self.column = count - 1,
            Some('J') => {
                self.rows.truncate(self.row + 1);
                self.clear_line();
            }
            Some('K') if number == "2" => {
                if let Some(row) = self.rows.get_mut(self.row) {
                    row.clear();
                }
            }
            Some('K') => self.clear_line(),
            _ => {}
        }
    }

    fn clear_line(&mut self) {
        if let Some(row) = self.rows.get_mut(self.row) {
            row.truncate(self.column);
        }
    }

    fn put(&mut self, c: char) {
        while self.rows.len() <= self.row {
            self.rows.push(Vec::new());
        }
        let row = &mut self.rows[self.row];
        while row.len() <= self.column {
            row.push(' ');
        }
        row[self.column] = c;
        self.column += 1;
    }
}

#[test]
fn a_progress_line_is_replaced_by_what_follows_it() {
    for (output, lines) in [
        ("one\r\ntwo\r\n", &["one", "two"][..]),
        ("starting\r\u{1b}[Kdone\r\n", &["done"]),
        ("a\r\nb\r\n\u{1b}[2A\u{1b}[Jc", &["c"]),
        ("\u{1b}[1mbold\u{1b}[0m", &["bold"]),
    ] {
        assert_eq!(Screen::after(output.as_bytes()).lines(), lines, "{output:?}");
    }
}
