//! Tests which entries of projects count as approved in a loaded configuration.

use switchboard_config::{Config, Environment, Places, load};

use super::*;

struct Home {
    folder: tempfile::TempDir,
    places: Places,
    environment: Environment,
}

/// Creates a home with a project file and, if given, a user file.
fn home(user: Option<&str>, project: &str) -> Home {
    let folder = tempfile::tempdir().unwrap();
    let [home, work] = ["home", "work"].map(|name| folder.path().join(name));
    let places = Places {
        user: Some(home.join("config.json")),
        project: Some(work.join("switchboard.json")),
        ..Places::without_files(home.join("state"))
    };
    for folder in [&home, &work] {
        fs::create_dir_all(folder).unwrap();
    }
    if let Some(text) = user {
        fs::write(places.user.as_ref().unwrap(), text).unwrap();
    }
    let environment =
        Environment { variables: BTreeMap::new(), home: Some(home), current_dir: work };
    let home = Home { folder, places, environment };
    home.write_project(project);
    home
}

impl Home {
    fn load(&self) -> Config {
        load(&self.places, &self.environment, &Approvals::load(&self.places.state))
    }

    fn approve(&self, name: &str) {
        let config = self.load();
        let server = config.servers.get(name).unwrap();
        let mut approvals = Approvals::load(&self.places.state);
        approvals.approve(&server.source.file, &server.id, &server.approval_digest).unwrap();
        approvals.save().unwrap();
    }

    fn write_project(&self, text: &str) {
        fs::write(self.places.project.as_ref().unwrap(), text).unwrap();
    }
}

fn one(name: &str, command: &str) -> String {
    format!(r#"{{"mcpServers": {{"{name}": {{"command": "{command}"}}}}}}"#)
}

#[test]
fn a_project_server_waits_until_exactly_it_is_approved() {
    let text = |entry: &str| format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
    let original = r#"{"command": "a", "args": ["x"], "env": {"K": "${K:-1}"}, "cwd": "c"}"#;
    let mut home = home(None, &text(original));
    home.approve("a");
    assert!(home.load().servers["a"].approved);

    home.write_project(&format!("// a comment\n{}", text(original).replace(", ", ",\n")));
    assert!(home.load().servers["a"].approved, "layout is no change");
    home.environment.variables.insert("K".to_owned(), "2".to_owned());
    assert!(home.load().servers["a"].approved, "the entry is what was approved, not its values");

    let changes = [
        (r#""command": "a""#, r#""command": "b""#),
        (r#"["x"]"#, r#"["x", "y"]"#),
        ("${K:-1}", "${K:-2}"),
        (r#""cwd": "c""#, r#""cwd": "d""#),
        (r#""cwd": "c""#, r#""cwd": "c", "autoApprove": ["write"]"#),
        (
            r#""command": "a", "args": ["x"], "env": {"K": "${K:-1}"}, "cwd": "c""#,
            r#""url": "http://a""#,
        ),
    ];
    for (from, to) in changes {
        assert!(original.contains(from));
        home.write_project(&text(&original.replace(from, to)));
        assert!(!home.load().servers["a"].approved, "{to}");
    }
    home.write_project(&one("b", "a"));
    assert!(!home.load().servers["b"].approved, "another name");
}

#[test]
fn an_approval_covers_the_file_with_variables() {
    let home = home(None, r#"{"mcpServers": {"a": {"command": "a", "envFile": "e"}}}"#);
    let variables = home.environment.current_dir.join("e");
    fs::write(&variables, "PATH=/usr/bin\n").unwrap();
    home.approve("a");
    assert!(home.load().servers["a"].approved);
    assert!(home.load().files.contains(&variables));
    fs::write(&variables, "PATH=.\n").unwrap();
    assert!(!home.load().servers["a"].approved);
}

#[test]
fn a_copy_of_an_approved_project_is_not_approved() {
    let mut home = home(None, &one("a", "a"));
    home.approve("a");
    let copy = home.folder.path().join("switchboard.json");
    fs::copy(home.places.project.as_ref().unwrap(), &copy).unwrap();
    home.places.project = Some(copy);
    assert!(!home.load().servers["a"].approved);
}

#[test]
fn approvals_inside_the_project_do_not_count() {
    let first = home(None, &one("a", "a"));
    first.approve("a");
    let second = home(None, &one("a", "a"));
    let state = second.environment.current_dir.join("state");
    fs::create_dir_all(&state).unwrap();
    let approvals = first.places.state.join("approvals.json");
    fs::copy(&approvals, state.join("approvals.json")).unwrap();
    fs::copy(approvals, second.environment.current_dir.join("approvals.json")).unwrap();
    assert!(!second.load().servers["a"].approved);
}

#[test]
fn broken_approvals_approve_nothing_and_are_reported() {
    let home = home(Some(&one("u", "u")), &one("a", "a"));
    home.approve("a");
    fs::write(home.places.state.join("approvals.json"), "[").unwrap();
    let config = home.load();
    let approved: Vec<_> =
        config.servers.iter().map(|(name, server)| (name.as_str(), server.approved)).collect();
    assert_eq!(approved, [("a", false), ("builtin", true), ("u", true)]);
    assert_eq!(config.problems.len(), 1);
    assert!(config.is_complete());
}
