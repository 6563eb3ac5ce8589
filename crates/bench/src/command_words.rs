//! The words of a command line: `--name value`, `--switch` and the rest.

use std::str::FromStr;

use crate::error::Result;

/// What is left of a command line.
pub(crate) struct CommandWords(Vec<String>);

impl CommandWords {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self(words.into_iter().collect())
    }

    /// Takes the next word that is left.
    pub(crate) fn next(&mut self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    /// Takes the first word if it is this one.
    pub(crate) fn command(&mut self, name: &str) -> bool {
        let is_first = self.0.first().is_some_and(|word| word == name);
        if is_first {
            self.0.remove(0);
        }
        is_first
    }

    /// Takes a switch; says whether it was there.
    pub(crate) fn switch(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes an option and its value.
    pub(crate) fn option<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(at) = self.0.iter().position(|word| word == name) else { return Ok(None) };
        self.0.remove(at);
        if at >= self.0.len() {
            return Err(format!("`{name}` needs a value").into());
        }
        let value = self.0.remove(at);
        let read = value.parse().map_err(|_| format!("`{name}` cannot be `{value}`"))?;
        Ok(Some(read))
    }

    /// Takes an option that must be there.
    pub(crate) fn required<T: FromStr>(&mut self, name: &str) -> Result<T> {
        self.option(name)?.ok_or_else(|| format!("`{name}` is missing").into())
    }

    /// Makes sure that every word was understood.
    pub(crate) fn end(self) -> Result<()> {
        match self.0.first() {
            Some(word) => Err(format!("`{word}` is not understood").into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CommandWords;

    fn words(text: &str) -> CommandWords {
        CommandWords::new(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_taken_wherever_they_stand() {
        let mut words = words("calls --passes 3 --quick");
        assert_eq!(words.option::<usize>("--passes").unwrap(), Some(3));
        assert!(words.switch("--quick"));
        assert!(!words.switch("--json"));
        assert_eq!(words.next().as_deref(), Some("calls"));
        words.end().unwrap();
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let cases =
            [("--passes", "`--passes` needs a value"), ("--passes x", "`--passes` cannot be `x`")];
        for (line, expected) in cases {
            let error = words(line).option::<usize>("--passes").unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(words("what").end().unwrap_err().to_string(), "`what` is not understood");
    }
}
