//! How a piece of text looks, and the terminal codes for it.

/// Whether terminal codes may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// With colours and weights.
    Colour,
    /// Letters only; marks that tell code and headings from prose stay.
    Plain,
}

/// A set of looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct TextStyle(u8);

impl TextStyle {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const DIM: Self = Self(2);
    pub(super) const ITALIC: Self = Self(4);
    pub(super) const LINK: Self = Self(8);
    pub(super) const STRUCK: Self = Self(16);
    pub(super) const CODE: Self = Self(32);

    /// Each look with the code that turns it on.
    const CODES: [(Self, &'static str); 6] = [
        (Self::BOLD, "1"),
        (Self::DIM, "2"),
        (Self::ITALIC, "3"),
        (Self::LINK, "4"),
        (Self::STRUCK, "9"),
        (Self::CODE, "36"),
    ];

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Paint {
    /// Appends text that looks so. The look ends with the text: others may print in between.
    pub(super) fn write(self, out: &mut String, style: TextStyle, text: &str) {
        if self == Self::Plain || style == TextStyle::PLAIN || text.is_empty() {
            out.push_str(text);
            return;
        }
        let codes = TextStyle::CODES.iter().filter(|(look, _)| style.has(*look));
        let codes: Vec<&str> = codes.map(|(_, code)| *code).collect();
        out.push_str("\u{1b}[");
        out.push_str(&codes.join(";"));
        out.push('m');
        out.push_str(text);
        out.push_str("\u{1b}[0m");
    }

    /// Text that looks so.
    pub(super) fn paint(self, style: TextStyle, text: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, style, text);
        out
    }
}
