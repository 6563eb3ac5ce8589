//! The socket for editors belongs to the owner: processes that the host started are rejected.

use serde_json::json;

use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::switchboard::Switchboard;

#[test]
fn a_server_does_not_pass_for_the_owner_of_its_host() {
    let switchboard = Switchboard::new();
    let socket = switchboard.text_path("host.sock");
    // The HTTP/2 connection preface: an accepted client is answered with settings.
    let client = format!(
        r#"use Socket;
           for (1..300) {{
               socket($s, AF_UNIX, SOCK_STREAM, 0);
               last if connect($s, sockaddr_un("{socket}"));
               select(undef, undef, undef, 0.1);
           }}
           $SIG{{PIPE}} = "IGNORE";
           syswrite($s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . pack("C9", 0, 0, 0, 4, 0, 0, 0, 0, 0));
           $got = sysread($s, $bytes, 9) || 0;
           open($told, ">", "told.part");
           print $told $got;
           close($told);
           rename("told.part", "told");
        "#
    );
    let script = switchboard.write("client.pl", &client);
    let told = || poll(TEST_TIMEOUT, || std::fs::read_to_string(switchboard.path("told")).ok());
    let program = switchboard_testkit::binary();
    let line = format!("perl '{}' &\nexec '{}' echo\n", script.display(), program.display());
    let command = switchboard.script("work/server.sh", &line);
    switchboard.configure(&json!({"it": {"command": command, "cwd": switchboard.path(".")}}));
    let place = format!("unix:{socket}");
    let running = switchboard.start(&["serve", "--json", "--grpc", &place]);
    running.first_line();
    assert_eq!(told().as_deref(), Some("0"), "a server was let in");
    // Other processes of the same user are accepted.
    std::fs::remove_file(switchboard.path("told")).unwrap();
    let mut command = std::process::Command::new("perl");
    command.arg(&script).current_dir(switchboard.path("."));
    RunningProcess::start(&mut command).finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(told().as_deref(), Some("9"));
}
