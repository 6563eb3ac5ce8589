//! Tests of paths that escape, are protected or misleading, and of existing files.

use super::*;

struct DownloadFixture {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl DownloadFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap().join("work");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        Self { folder, root }
    }

    fn write(&self, wanted: &str, existing: IfExists) -> Result<PathBuf, DownloadError> {
        let roots = [self.root.clone()];
        let protected = [self.root.join("sub/own")];
        let ground =
            DownloadRoots { roots: &roots, protected: &protected, limit_bytes: 10, existing };
        write_download(&ground, Path::new(wanted), b"content")
    }

    fn files(&self) -> Vec<String> {
        let listed = std::fs::read_dir(&self.root).unwrap();
        let mut names: Vec<String> =
            listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_file_appears_whole_under_its_name_for_its_owner_alone() {
    let fixture = DownloadFixture::new();
    let absolute = fixture.root.join("b.txt");
    for wanted in ["a.txt", "sub/a.txt", "./c d.txt", absolute.to_str().unwrap(), "größe.txt"] {
        let path = fixture.write(wanted, IfExists::Keep).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "content", "{wanted}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{wanted}");
        }
    }
    assert_eq!(fixture.files(), ["a.txt", "b.txt", "c d.txt", "größe.txt", "sub"]);
}

#[test]
fn nothing_is_written_outside_to_protected_names_or_by_tricks() {
    let fixture = DownloadFixture::new();
    let evil = format!("{}_evil/x", fixture.root.display());
    std::fs::create_dir(format!("{}_evil", fixture.root.display())).unwrap();
    let long = "x".repeat(4_096);
    let refused = [
        "../x",
        "../../.ssh/authorized_keys",
        "sub/../../x",
        "/etc/x",
        "/",
        "",
        ".",
        "sub/",
        &evil,
        ".mcp.json",
        ".git/hooks/pre-commit",
        ".cursor/mcp.json",
        ".vscode/x",
        ".bashrc",
        "sub/.env",
        ".GIT/x",
        "MCP.json",
        "switchboard.json",
        "sub/own/config.json",
        "%2e%2e%2fx",
        "%252e%252e%252fx",
        "..%2fx",
        "..\\x",
        "sub\\..\\x",
        "\u{2025}/x",
        "\u{ff0e}\u{ff0e}/x",
        "x.",
        "x ",
        "x. /y",
        "\\\\?\\C:\\x",
        "C:x",
        "con",
        "CON.txt",
        "com1.log",
        "a\u{0}b",
        "a\nb",
        "a\u{202e}b",
        "a\u{200b}b",
        &long,
        "~/x",
        "$HOME/x",
        "/proc/self/root/etc/x",
        "/proc/self/cwd/x",
        "sub/./../../x",
        "sub//../x",
        "./../x",
        "..",
        "...",
        "sub/..",
        "..;/x",
        "..%c0%afx",
        "sub/..%5cx",
        "\u{2215}etc",
        "a\u{2044}b",
        "\u{29f8}x",
        "a\u{fe0f}b",
        "a\u{2800}b",
        "a\u{301}.txt",
        "x\u{a0}",
        "Agents.MD",
        "sub/CLAUDE.md",
        "hooks.JSON",
        "nul.tar.gz",
        "LPT9",
        "com\u{b9}.txt",
        "x::$DATA",
        "file:///etc/x",
        ".SSH/x",
        "sub/lib.PTH",
    ];
    for wanted in refused {
        assert!(fixture.write(wanted, IfExists::Replace).is_err(), "{wanted:?}");
    }
    assert_eq!(fixture.files(), ["sub"]);
    assert_eq!(std::fs::read_dir(fixture.root.join("sub")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let fixture = DownloadFixture::new();
    let outside = fixture.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "before").unwrap();
    symlink(&outside, fixture.root.join("link")).unwrap();
    symlink(outside.join("file"), fixture.root.join("file")).unwrap();
    symlink(outside.join("new"), fixture.root.join("dangling")).unwrap();
    std::fs::hard_link(outside.join("file"), fixture.root.join("hard")).unwrap();
    for wanted in ["link/x", "file", "dangling", "hard"] {
        for existing in [IfExists::Keep, IfExists::Replace] {
            assert!(fixture.write(wanted, existing).is_err(), "{wanted}");
        }
    }
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "before");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_there_stays_unless_it_may_be_replaced() {
    let fixture = DownloadFixture::new();
    std::fs::write(fixture.root.join("a"), "before").unwrap();
    let error = fixture.write("a", IfExists::Keep).unwrap_err();
    assert!(matches!(error, DownloadError::Exists(_)), "{error}");
    assert_eq!(std::fs::read_to_string(fixture.root.join("a")).unwrap(), "before");
    fixture.write("a", IfExists::Replace).unwrap();
    assert_eq!(std::fs::read_to_string(fixture.root.join("a")).unwrap(), "content");
    assert!(fixture.write("sub", IfExists::Replace).is_err());
}

#[test]
fn more_than_the_limit_is_not_written() {
    let fixture = DownloadFixture::new();
    let roots = [fixture.root.clone()];
    let ground =
        DownloadRoots { roots: &roots, protected: &[], limit_bytes: 3, existing: IfExists::Keep };
    let error = write_download(&ground, Path::new("a"), b"four").unwrap_err();
    assert!(matches!(error, DownloadError::TooLong { size: 4, limit: 3 }), "{error}");
    assert_eq!(fixture.files(), ["sub"]);
}

#[test]
fn a_servers_name_becomes_letters_digits_and_a_mark() {
    let long = format!("x://{}", "a".repeat(5_000));
    for uri in ["file:///../../x", "con", "a\u{0}b", "x://a/..", "x://%2e%2e%2f", &long, "", ".git"]
    {
        let name = file_name_for(uri);
        assert_eq!(check_name(&name), Ok(()), "{uri:?} -> {name}");
        assert!(!name.starts_with('.') && name.len() < 80, "{name}");
    }
    assert_ne!(file_name_for("a://x/n.txt"), file_name_for("b://x/n.txt"));
    assert!(file_name_for("a://x/report.pdf").ends_with(".pdf"));
}
