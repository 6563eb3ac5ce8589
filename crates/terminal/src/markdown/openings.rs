//! The first characters of a line, until it is clear what they begin.

use super::containers::Start;

/// What a line may begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `#`: a heading.
    Hashes,
    /// `-`, `*`, `+` or `_`: an item or a rule.
    Marks(char),
    /// A number: an item.
    Number,
    /// Backticks or tildes: code.
    Fence(char),
    /// `[`: the box of a task.
    Task,
}

/// Characters that may begin something.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) kind: Kind,
    pub(super) start: Start,
    /// All that was read of it.
    pub(super) text: String,
    /// How many marks were read.
    pub(super) count: usize,
}

/// What an opening and the character behind it turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Not clear yet; the character belongs to it.
    More,
    /// The character belongs to none of these.
    Text,
    /// The character, if it is not the end of the line, belongs to the marker.
    Heading,
    /// It was the end of the line.
    Rule,
    /// It was the end of the line.
    Fence,
    /// An item with this marker; so many characters belong to the marker.
    Item(String, usize),
    /// The box of a task; the character is the space behind it.
    Task(&'static str),
}

impl Opening {
    /// What the first character of a line may begin.
    pub(super) fn new(c: char, start: Start, in_item: InItem) -> Option<Self> {
        let kind = match c {
            '#' => Kind::Hashes,
            '-' | '*' | '+' | '_' => Kind::Marks(c),
            '0'..='9' => Kind::Number,
            '`' | '~' => Kind::Fence(c),
            '[' if in_item == InItem::Beginning => Kind::Task,
            _ => return None,
        };
        Some(Self { kind, start, text: c.to_string(), count: 1 })
    }

    /// Looks at the next character.
    pub(super) fn next(&mut self, c: char) -> Found {
        let found = match self.kind {
            Kind::Hashes => self.hashes(c),
            Kind::Marks(mark) => self.marks(mark, c),
            Kind::Number => self.number(c),
            Kind::Fence(mark) => self.fence(mark, c),
            Kind::Task => self.task(c),
        };
        if found == Found::More {
            self.text.push(c);
        }
        found
    }

    fn hashes(&mut self, c: char) -> Found {
        match c {
            '#' if self.count < 6 => {
                self.count += 1;
                Found::More
            }
            ' ' | '\t' | '\n' => Found::Heading,
            _ => Found::Text,
        }
    }

    fn marks(&mut self, mark: char, c: char) -> Found {
        let is_bullet = mark != '_';
        match c {
            _ if c == mark => {
                self.count += 1;
                Found::More
            }
            ' ' | '\t' => Found::More,
            '\n' if self.count >= 3 && mark != '+' => Found::Rule,
            _ if is_bullet && self.text.chars().nth(1).map_or(c == '\n', is_blank) => {
                Found::Item("• ".to_owned(), 2)
            }
            _ => Found::Text,
        }
    }

    fn number(&mut self, c: char) -> Found {
        let is_marked = self.text.ends_with(['.', ')']);
        match c {
            '0'..='9' if !is_marked && self.text.len() < 9 => Found::More,
            '.' | ')' if !is_marked => Found::More,
            ' ' | '\t' if is_marked => Found::Item(format!("{} ", self.text), self.text.len() + 1),
            _ => Found::Text,
        }
    }

    fn fence(&mut self, mark: char, c: char) -> Found {
        let in_run = self.count == self.text.len();
        match c {
            _ if c == mark && in_run => {
                self.count += 1;
                Found::More
            }
            _ if self.count < 3 => Found::Text,
            '\n' => Found::Fence,
            // It is code within a line.
            '`' if mark == '`' => Found::Text,
            _ => Found::More,
        }
    }

    fn task(&self, c: char) -> Found {
        match (self.text.as_str(), c) {
            ("[", ' ' | 'x' | 'X') | ("[ " | "[x" | "[X", ']') => Found::More,
            ("[ ]", ' ') => Found::Task("☐ "),
            ("[x]" | "[X]", ' ') => Found::Task("☑ "),
            _ => Found::Text,
        }
    }
}

/// Where a line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InItem {
    /// Right behind the marker of an item.
    Beginning,
    /// Anywhere else.
    No,
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}
