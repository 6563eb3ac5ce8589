//! Valid bundles, and bundles that are too large, lead out of their folder or have false metadata.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::bundle::{BundleContext, bundle_folder, installed_bundle_at};
use crate::plan::InstallAnswers;

fn manifest(server: &Value, more: &Value) -> Value {
    let mut manifest = json!({"manifest_version": "0.3", "name": "files", "version": "1.0.0",
        "description": "d", "author": {"name": "a"}, "server": server});
    for (name, value) in more.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

fn node() -> Value {
    json!({"type": "node", "entry_point": "server/index.js"})
}

fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn with_manifest(manifest: &Value) -> Vec<u8> {
    let text = manifest.to_string();
    pack(&[("manifest.json", text.as_bytes()), ("server/index.js", b"1"), ("server/run", b"2")])
}

fn read(bytes: Vec<u8>) -> Result<Bundle, BundleError> {
    Bundle::read(bytes, &ArchiveLimits::default(), None)
}

fn surroundings(folder: &Path) -> BundleContext {
    BundleContext {
        bundles: folder.to_owned(),
        home: Some(PathBuf::from("/homes/me")),
        platform: "linux",
    }
}

fn runs(manifest: &Value, answers: &[(&str, &str)]) -> Result<Value, String> {
    let bundle = read(with_manifest(manifest)).map_err(|error| error.to_string())?;
    let plan = bundle.plan(&surroundings(Path::new("/b"))).map_err(|error| error.to_string())?;
    let mut given = InstallAnswers::new();
    for (name, value) in answers {
        given.entry((*name).to_owned()).or_default().push((*value).to_owned());
    }
    let entry = plan.fill(&given).map_err(|error| error.to_string())?.entry();
    let text = Value::Object(entry).to_string();
    let place = bundle_folder(Path::new("/b"), &bundle.sha256);
    Ok(serde_json::from_str(&text.replace(place.to_str().unwrap(), "DIR")).unwrap())
}

#[test]
fn each_type_of_server_has_its_usual_command() {
    for (kind, expected) in [
        ("node", json!({"command": "node", "args": ["DIR/server/index.js"]})),
        ("python", json!({"command": "python3", "args": ["DIR/server/index.js"]})),
        ("binary", json!({"command": "DIR/server/index.js", "args": []})),
        ("uv", json!({"command": "uv", "args": ["run", "--directory", "DIR", "server/index.js"]})),
    ] {
        let manifest =
            manifest(&json!({"type": kind, "entry_point": "server/index.js"}), &json!({}));
        assert_eq!(runs(&manifest, &[]), Ok(expected), "{kind}");
    }
}

#[test]
fn variables_and_answers_are_put_in_and_secrets_are_kept_apart() {
    let server = json!({"type": "node", "entry_point": "server/index.js", "mcp_config": {
        "command": "node",
        "args": ["${__dirname}/server/index.js", "--port=${user_config.port}", "${user_config.folders}", "${unknown}"],
        "env": {"KEY": "${user_config.key}", "AT": "${HOME}${/}x", "PYTHONPATH": "${__dirname}/lib"},
        "platform_overrides": {"linux": {"env": {"ON": "linux"}}, "win32": {"command": "node.exe"}},
    }});
    let inputs = json!({"user_config": {
        "port": {"type": "number", "default": 80},
        "folders": {"type": "directory", "multiple": true, "required": true},
        "key": {"type": "string", "sensitive": true, "required": true},
        "unused": {"type": "boolean"},
    }});
    let manifest = manifest(&server, &inputs);
    let answers = [("folders", "/a"), ("folders", "/b c"), ("key", "s3cret")];
    assert_eq!(
        runs(&manifest, &answers),
        Ok(json!({
            "command": "node",
            "args": ["DIR/server/index.js", "--port=80", "/a", "/b c", "$${unknown}"],
            "env": {"KEY": "${keyring:key}", "AT": "/homes/me/x", "PYTHONPATH": "DIR/lib", "ON": "linux"},
        }))
    );
    assert_eq!(
        runs(&manifest, &[("folders", "/a")]),
        Err("`key` is required but has no value".to_owned())
    );
    let wrong = [("folders", "/a"), ("key", "k"), ("port", "many")];
    assert_eq!(runs(&manifest, &wrong), Err("`port` must be a number".to_owned()));
}

#[test]
fn a_manifest_that_lies_or_lacks_something_is_refused() {
    let good = manifest(&node(), &json!({}));
    let without = |member: &str| {
        let mut manifest = good.clone();
        manifest.as_object_mut().unwrap().remove(member);
        manifest
    };
    let of = |server: Value| manifest(&server, &json!({}));
    for (manifest, expected) in [
        (without("manifest_version"), "it has no `manifest_version`"),
        (without("name"), "it has no `name`"),
        (without("server"), "unsupported server type ``"),
        (of(json!({"type": "shell", "entry_point": "x"})), "unsupported server type `shell`"),
        (
            of(json!({"type": "node", "entry_point": "none.js"})),
            "its entry point `none.js` is missing",
        ),
    ] {
        let expected = format!("the bundle has no valid `manifest.json`: {expected}");
        assert_eq!(runs(&manifest, &[]), Err(expected), "{manifest}");
    }
    let up = of(json!({"type": "node", "entry_point": "../x.js"}));
    assert!(runs(&up, &[]).unwrap_err().contains("leads out of its folder"));
    let up = of(json!({"type": "node", "entry_point": "server/index.js", "mcp_config": {
        "command": "node", "args": ["${__dirname}/../../x.js"]}}));
    assert_eq!(runs(&up, &[]), Err("argument 1 leads out of a folder".to_owned()));
    let mac = manifest(&node(), &json!({"compatibility": {"platforms": ["darwin", "win32"]}}));
    assert_eq!(
        runs(&mac, &[]),
        Err("the bundle does not support `linux`, only darwin, win32".to_owned())
    );
    let old = json!({"dxt_version": "0.1", "name": "a", "version": "1.0.0", "server": node()});
    assert!(runs(&old, &[]).is_ok());
}

#[test]
fn files_that_lead_elsewhere_are_refused() {
    for name in [
        "../evil", "a/../../evil", "/etc/evil", "a\\b", "C:/x", "a/./b", "a//b", "a\nb", "a /b",
        "..", "a/.. ",
    ] {
        let text = manifest(&node(), &json!({})).to_string();
        let bytes = pack(&[("manifest.json", text.as_bytes()), (name, b"x")]);
        assert!(matches!(read(bytes), Err(BundleError::BadEntry { .. })), "{name:?}");
    }
    let bytes = pack(&[("manifest.json", b"{}"), ("A.js", b"1"), ("a.js", b"2")]);
    let twice = BundleError::BadEntry { name: "a.js".to_owned(), why: "occurs twice" };
    assert_eq!(read(bytes).err(), Some(twice));
}

#[test]
fn links_are_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("manifest.json", SimpleFileOptions::default()).unwrap();
    writer.write_all(manifest(&node(), &json!({})).to_string().as_bytes()).unwrap();
    writer.add_symlink("server/index.js", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let expected =
        BundleError::BadEntry { name: "server/index.js".to_owned(), why: "is not a regular file" };
    assert_eq!(read(bytes).err(), Some(expected));
}

#[test]
fn bundles_that_grow_too_much_are_refused() {
    let zeros = vec![0; 3 * 1024 * 1024];
    let bomb = pack(&[("manifest.json", b"{}"), ("bomb", &zeros)]);
    assert!(matches!(read(bomb), Err(BundleError::BadEntry { .. })));
    let limits = ArchiveLimits { total_bytes: 10, ..ArchiveLimits::default() };
    let large = pack(&[("a", b"123456"), ("b", b"123456")]);
    assert!(matches!(Bundle::read(large.clone(), &limits, None), Err(BundleError::TooLarge(_))));
    let limits = ArchiveLimits { files: 1, ..ArchiveLimits::default() };
    assert!(matches!(Bundle::read(large.clone(), &limits, None), Err(BundleError::TooLarge(_))));
    let limits = ArchiveLimits { packed_bytes: 10, ..ArchiveLimits::default() };
    assert!(matches!(Bundle::read(large, &limits, None), Err(BundleError::TooLarge(_))));
    assert!(matches!(read(b"no zip".to_vec()), Err(BundleError::NoArchive(_))));
    let text = manifest(&node(), &json!({})).to_string();
    let mut cut = pack(&[("manifest.json", text.as_bytes())]);
    cut.truncate(cut.len() / 2);
    assert!(read(cut).is_err());
}

#[test]
fn the_digest_must_be_the_one_that_was_meant() {
    let bytes = with_manifest(&manifest(&node(), &json!({})));
    let bundle = read(bytes.clone()).unwrap();
    let limits = ArchiveLimits::default();
    for meant in
        [bundle.sha256.clone(), bundle.sha256.to_uppercase(), format!("sha256:{}", bundle.sha256)]
    {
        assert!(Bundle::read(bytes.clone(), &limits, Some(&meant)).is_ok(), "{meant}");
    }
    let other = Bundle::read(bytes, &limits, Some("ab"));
    let expected = BundleError::OtherDigest { expected: "ab".to_owned(), found: bundle.sha256 };
    assert_eq!(other.err(), Some(expected));
}

#[test]
fn what_was_unpacked_is_checked_against_its_list() {
    let home = tempfile::tempdir().unwrap();
    let bundles = home.path().join("bundles");
    let bundle = read(with_manifest(&manifest(&node(), &json!({})))).unwrap();
    let installed = bundle.install(&bundles).unwrap();
    let folder = bundle_folder(&bundles, &bundle.sha256);
    assert_eq!(std::fs::read(folder.join("server/index.js")).unwrap(), b"1");
    assert_eq!(installed.changes().unwrap(), Vec::<String>::new());
    assert_eq!(bundle.install(&bundles).unwrap(), installed);
    let path = folder.join("server/index.js");
    assert_eq!(installed_bundle_at(&bundles, path.to_str().unwrap()), Some(installed.clone()));
    assert_eq!(installed_bundle_at(&bundles, "/elsewhere/x"), None);
    std::fs::write(&path, "evil").unwrap();
    std::fs::remove_file(folder.join("server/run")).unwrap();
    let changes = ["`server/index.js` was changed", "`server/run` is missing"];
    assert_eq!(installed.changes().unwrap(), changes);
    assert!(matches!(bundle.install(&bundles), Err(BundleError::NotInstalled(_))));
    let left: Vec<_> =
        std::fs::read_dir(&bundles).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, [std::ffi::OsString::from(&bundle.sha256)]);
}

proptest! {
    #[test]
    fn damaged_bundles_never_do_harm(at in 0_usize..600, byte: u8, cut in 0_usize..700) {
        let mut bytes = with_manifest(&manifest(&node(), &json!({})));
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(cut.max(20));
        if let Ok(bundle) = read(bytes) {
            let home = tempfile::tempdir().unwrap();
            let bundles = home.path().join("bundles");
            if bundle.install(&bundles).is_ok() {
                let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().collect();
                prop_assert_eq!(left.len(), 1);
            }
        }
    }
}
