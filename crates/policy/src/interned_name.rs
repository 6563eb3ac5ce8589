//! Names that many sessions keep, each of them once.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Fewer names than this are not worth looking for those that nobody has any more.
const FEW: usize = 1_000;

static ALL: LazyLock<Mutex<All>> = LazyLock::new(Mutex::default);

/// A name that is kept once, however many have it. As small as a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharedName(Arc<Text>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Text(Box<str>);

#[derive(Debug, Default)]
struct All {
    names: HashSet<SharedName>,
    /// How many were left when those that nobody had were last looked for.
    left: usize,
}

impl SharedName {
    /// The name that everybody has, or a new one.
    pub(crate) fn of(name: &str) -> Self {
        ALL.lock().unwrap_or_else(PoisonError::into_inner).get(name)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0.0
    }
}

impl Borrow<str> for SharedName {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl All {
    fn get(&mut self, name: &str) -> SharedName {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        if self.names.len() > FEW + 2 * self.left {
            self.names.retain(|name| Arc::strong_count(&name.0) > 1);
            self.left = self.names.len();
        }
        let new = SharedName(Arc::new(Text(name.into())));
        self.names.insert(new.clone());
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_once_and_as_long_as_somebody_has_them() {
        let mut all = All::default();
        let kept: Vec<SharedName> = (0..FEW).map(|n| all.get(&n.to_string())).collect();
        for number in 0..10 * FEW {
            all.get(&format!("nobody's {number}"));
        }
        assert!(all.names.len() <= 4 * FEW, "{}", all.names.len());
        for (number, name) in kept.iter().enumerate() {
            assert!(Arc::ptr_eq(&all.get(&number.to_string()).0, &name.0), "{number}");
        }
    }
}
