//! Names of files that some system takes for something else.

const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];

/// Whether Windows takes the name for a device, whatever follows its first dot.
pub fn is_device_name(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end().to_lowercase();
    let numbered = ["com", "lpt"]
        .iter()
        .any(|device| stem.strip_prefix(device).is_some_and(|rest| rest.chars().count() == 1));
    numbered || DEVICES.contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::is_device_name;

    #[test]
    fn a_device_is_one_in_any_case_and_with_any_ending() {
        for name in ["con", "NUL", "Aux.txt", "com1", "LPT9.log.gz", "com²", "nul .x", "con:x"] {
            assert!(is_device_name(name), "{name}");
        }
        for name in ["", "console", "com", "com10", "null", "a.con", "nul-1.log", "x/con"] {
            assert!(!is_device_name(name), "{name}");
        }
    }
}
