//! Names that many sessions keep, each of them once.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

/// Fewer names than this are not worth looking for those that nobody has any more.
const MIN_SWEEP_NAMES: usize = 1_000;

static INTERNER: LazyLock<Mutex<NameInterner>> = LazyLock::new(Mutex::default);

/// A name that is kept once, however many have it. As small as a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InternedName(Arc<NameText>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct NameText(Box<str>);

#[derive(Debug, Default)]
struct NameInterner {
    names: HashSet<InternedName>,
    /// How many were left when those that nobody had were last looked for.
    left: usize,
}

impl InternedName {
    /// The name that everybody has, or a new one.
    pub(crate) fn intern(name: &str) -> Self {
        INTERNER.lock().intern(name)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0.0
    }
}

impl Borrow<str> for InternedName {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl NameInterner {
    fn intern(&mut self, name: &str) -> InternedName {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        if self.names.len() > MIN_SWEEP_NAMES + 2 * self.left {
            self.names.retain(|name| Arc::strong_count(&name.0) > 1);
            self.left = self.names.len();
        }
        let new = InternedName(Arc::new(NameText(name.into())));
        self.names.insert(new.clone());
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_once_and_as_long_as_somebody_has_them() {
        let mut all = NameInterner::default();
        let kept: Vec<InternedName> =
            (0..MIN_SWEEP_NAMES).map(|n| all.intern(&n.to_string())).collect();
        for number in 0..10 * MIN_SWEEP_NAMES {
            all.intern(&format!("nobody's {number}"));
        }
        assert!(all.names.len() <= 4 * MIN_SWEEP_NAMES, "{}", all.names.len());
        for (number, name) in kept.iter().enumerate() {
            assert!(Arc::ptr_eq(&all.intern(&number.to_string()).0, &name.0), "{number}");
        }
    }
}
