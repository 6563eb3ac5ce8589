//! The first characters of a line, until it is clear what they begin.

use super::containers::LineStart;

/// What a line may begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpeningKind {
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
pub(super) struct BlockOpening {
    pub(super) kind: OpeningKind,
    pub(super) start: LineStart,
    /// All that was read of it.
    pub(super) text: String,
    /// How many marks were read.
    pub(super) count: usize,
}

/// What an opening and the character behind it turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OpeningMatch {
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

impl BlockOpening {
    /// What the first character of a line may begin.
    pub(super) fn new(c: char, start: LineStart, in_item: InItem) -> Option<Self> {
        let kind = match c {
            '#' => OpeningKind::Hashes,
            '-' | '*' | '+' | '_' => OpeningKind::Marks(c),
            '0'..='9' => OpeningKind::Number,
            '`' | '~' => OpeningKind::Fence(c),
            '[' if in_item == InItem::Beginning => OpeningKind::Task,
            _ => return None,
        };
        Some(Self { kind, start, text: c.to_string(), count: 1 })
    }

    /// Looks at the next character.
    pub(super) fn next(&mut self, c: char) -> OpeningMatch {
        let found = match self.kind {
            OpeningKind::Hashes => self.hashes(c),
            OpeningKind::Marks(mark) => self.marks(mark, c),
            OpeningKind::Number => self.number(c),
            OpeningKind::Fence(mark) => self.fence(mark, c),
            OpeningKind::Task => self.task(c),
        };
        if found == OpeningMatch::More {
            self.text.push(c);
        }
        found
    }

    fn hashes(&mut self, c: char) -> OpeningMatch {
        match c {
            '#' if self.count < 6 => {
                self.count += 1;
                OpeningMatch::More
            }
            ' ' | '\t' | '\n' => OpeningMatch::Heading,
            _ => OpeningMatch::Text,
        }
    }

    fn marks(&mut self, mark: char, c: char) -> OpeningMatch {
        let is_bullet = mark != '_';
        match c {
            _ if c == mark => {
                self.count += 1;
                OpeningMatch::More
            }
            ' ' | '\t' => OpeningMatch::More,
            '\n' if self.count >= 3 && mark != '+' => OpeningMatch::Rule,
            _ if is_bullet && self.text.chars().nth(1).map_or(c == '\n', is_blank) => {
                OpeningMatch::Item("• ".to_owned(), 2)
            }
            _ => OpeningMatch::Text,
        }
    }

    fn number(&mut self, c: char) -> OpeningMatch {
        let is_marked = self.text.ends_with(['.', ')']);
        match c {
            '0'..='9' if !is_marked && self.text.len() < 9 => OpeningMatch::More,
            '.' | ')' if !is_marked => OpeningMatch::More,
            ' ' | '\t' if is_marked => {
                OpeningMatch::Item(format!("{} ", self.text), self.text.len() + 1)
            }
            _ => OpeningMatch::Text,
        }
    }

    fn fence(&mut self, mark: char, c: char) -> OpeningMatch {
        let in_run = self.count == self.text.len();
        match c {
            _ if c == mark && in_run => {
                self.count += 1;
                OpeningMatch::More
            }
            _ if self.count < 3 => OpeningMatch::Text,
            '\n' => OpeningMatch::Fence,
            // It is code within a line.
            '`' if mark == '`' => OpeningMatch::Text,
            _ => OpeningMatch::More,
        }
    }

    fn task(&self, c: char) -> OpeningMatch {
        match (self.text.as_str(), c) {
            ("[", ' ' | 'x' | 'X') | ("[ " | "[x" | "[X", ']') => OpeningMatch::More,
            ("[ ]", ' ') => OpeningMatch::Task("☐ "),
            ("[x]" | "[X]", ' ') => OpeningMatch::Task("☑ "),
            _ => OpeningMatch::Text,
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
