//! The fenced blocks of a page, and the commands of a console block.

/// Fenced block of a page, with the number of its first line.
pub(super) struct Block {
    pub(super) line: usize,
    pub(super) language: String,
    /// `name="value"` in the fence's info string, after the language.
    attributes: String,
    pub(super) text: String,
}

impl Block {
    /// Value of an attribute: why a block does not run here (`no-run`), or where the reader saves
    /// it (`file`).
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.attributes.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    }

    /// Commands of a console block. Lines before the first `$` are a mistake.
    pub(super) fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        let mut lines = self.text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            let Some(typed) = line.strip_prefix("$ ") else {
                let command = commands.last_mut();
                let command = command.unwrap_or_else(|| panic!("no command before `{line}`"));
                command.shown.push(line.to_owned());
                continue;
            };
            let mut typed = typed.to_owned();
            while typed.ends_with('\\') {
                let (_, more) = lines.next().expect("a line follows a backslash");
                typed = format!("{typed}\n{more}");
            }
            commands.push(Command { line: self.line + index, typed, shown: Vec::new() });
        }
        for command in &mut commands {
            while command.shown.last().is_some_and(String::is_empty) {
                command.shown.pop();
            }
        }
        commands
    }
}

/// Command of a console block and the lines that follow it.
pub(super) struct Command {
    pub(super) line: usize,
    pub(super) typed: String,
    pub(super) shown: Vec<String>,
}

/// Fenced blocks of a page in order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match &mut open {
            Some(block) if line == "```" => {
                blocks.push(Block {
                    text: std::mem::take(&mut block.text),
                    attributes: std::mem::take(&mut block.attributes),
                    language: std::mem::take(&mut block.language),
                    line: block.line,
                });
                open = None;
            }
            Some(block) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {
                let Some(info) = line.strip_prefix("```") else { continue };
                let (language, attributes) = info.split_once(' ').unwrap_or((info, ""));
                open = Some(Block {
                    line: index + 2,
                    language: language.to_owned(),
                    attributes: attributes.to_owned(),
                    text: String::new(),
                });
            }
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}
