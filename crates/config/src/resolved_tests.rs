//! Which changes force a restart, and which values are never printed.

use super::*;
use crate::server::default_server;

fn stdio() -> Transport {
    Transport::Stdio {
        command: "npx".to_owned(),
        args: vec!["-y".to_owned(), "server".to_owned()],
        env: BTreeMap::from([("API_KEY".to_owned(), "hunter2".to_owned())]),
        cwd: None,
    }
}

fn http() -> Transport {
    Transport::Http {
        urls: vec!["https://a.example/mcp?key=hunter2".to_owned()],
        headers: BTreeMap::from([("Authorization".to_owned(), "hunter2".to_owned())]),
        kind: HttpKind::Auto,
    }
}

fn server(transport: Transport) -> ServerConfig {
    ServerConfig { transport, ..default_server(ServerId::new("a").unwrap()) }
}

#[test]
fn secrets_are_not_printed() {
    for transport in [stdio(), http()] {
        let text = format!("{:?}", server(transport));
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("API_KEY") || text.contains("Authorization"), "{text}");
    }
}

#[test]
fn what_a_running_server_depends_on_changes_its_restart_key() {
    type ConfigEdit = fn(&mut ServerConfig);
    let changes: [ConfigEdit; 10] = [
        |server| server.transport = Transport::Builtin,
        |server| server.transport = http(),
        |server| change_stdio(server, |command, _, _, _| command.push('x')),
        |server| change_stdio(server, |_, args, _, _| *args = vec!["-yserver".to_owned()]),
        |server| {
            change_stdio(server, |_, _, env, _| drop(env.insert("API_KEY".into(), "x".into())));
        },
        |server| change_stdio(server, |_, _, _, cwd| *cwd = Some("/".into())),
        |server| server.instances = 2,
        |server| server.era = EraSetting::Modern,
        |server| server.disabled = true,
        |server| server.approved = false,
    ];
    let before = server(stdio()).restart_key();
    for (index, change) in changes.iter().enumerate() {
        let mut changed = server(stdio());
        change(&mut changed);
        assert_ne!(changed.restart_key(), before, "change {index}");
    }
}

fn change_stdio(
    server: &mut ServerConfig,
    change: impl FnOnce(
        &mut String,
        &mut Vec<String>,
        &mut BTreeMap<String, String>,
        &mut Option<PathBuf>,
    ),
) {
    let Transport::Stdio { command, args, env, cwd } = &mut server.transport else {
        panic!("started by a command")
    };
    change(command, args, env, cwd);
}

#[test]
fn what_each_call_looks_up_does_not_change_the_restart_key() {
    let mut changed = server(http());
    changed.timeout = Duration::from_secs(5);
    changed.auto_approve.insert("read".to_owned());
    changed.tools.insert("read".to_owned(), ToolSettings::default());
    changed.fallback = Some("b".to_owned());
    changed.source.line = 9;
    changed.approval_digest.push('x');
    assert_eq!(changed.restart_key(), server(http()).restart_key());
}
