//! Tests of a `serve` of another version, or another program at its address: calls are made here,
//! or not at all.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::running::started_pids;
use crate::serve_client::{ServingGateway, until};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

/// Starts an impostor that lists servers as an instance does, and answers calls with this text.
fn pretend(answer_to_calls: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // The thread ends with the test process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(stream.unwrap(), answer_to_calls);
        }
    });
    port
}

fn answer(mut stream: TcpStream, answer_to_calls: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    let mut length = 0;
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let servers = json!([{"name": "echo", "state": "ready", "transport": "command"}]);
    let text = match first.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/api/v1/servers"] => format!("HTTP/1.1 200 OK\r\n\r\n{servers}"),
        ["POST", "/api/v1/calls"] => answer_to_calls.to_owned(),
        _ => "HTTP/1.1 404 Not Found\r\n\r\n{}".to_owned(),
    };
    // The client may have disconnected.
    _ = stream.write_all(text.as_bytes());
}

/// Returns a home in which an instance is registered at this port.
fn home(port: u16) -> Switchboard {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--trace", &trace])}));
    let serving = ServingGateway::start(&switchboard, &[]);
    let file = switchboard.folder().join("own/state/running/serve.json");
    until(|| file.exists());
    let mut told: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    serving.signal("TERM");
    serving.finish();
    told["address"] = json!(format!("127.0.0.1:{port}"));
    std::fs::write(&file, told.to_string()).unwrap();
    switchboard
}

#[test]
fn running_calls_are_made_here_where_the_instance_does_not_take_them() {
    for answer in [
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\n\r\n",
        "HTTP/1.1 422 Unprocessable Entity\r\n\r\n{}",
        "HTTP/1.1 503 Service Unavailable\r\n\r\n",
    ] {
        let switchboard = home(pretend(answer));
        let before = started_pids(&switchboard.path("trace")).len();
        let ran = switchboard.run(&["call", "echo", "echo", "text=a"]).expect(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("a\n", ""), "{answer}");
        assert_eq!(started_pids(&switchboard.path("trace")).len(), before + 1, "{answer}");
    }
}

#[test]
fn running_calls_that_were_taken_are_not_made_here_as_well() {
    let mut seen = Vec::new();
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n{\"event\":\"began\",\"call\":\"x\"}\n{\"event\":\"later\"}\n",
        "HTTP/1.1 200 OK\r\n\r\nsomething else\n",
    ] {
        let switchboard = home(pretend(answer));
        let before = started_pids(&switchboard.path("trace")).len();
        let lost = switchboard.run(&["call", "echo", "echo", "text=a"]).expect(6);
        seen.push(transcript(&lost));
        assert_eq!(started_pids(&switchboard.path("trace")).len(), before, "{answer}");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 6
    --- stderr
    error: the `switchboard serve` that called `echo/echo` ended before it reported the outcome; the call may have run
    hint: `switchboard calls --server echo` shows its state

    exit status 6
    --- stderr
    error: the `switchboard serve` that called `echo/echo` ended before it reported the outcome; the call may have run
    hint: `switchboard calls --server echo` shows its state

    exit status 6
    --- stderr
    error: the `switchboard serve` that called `echo/echo` ended before it reported the outcome; the call may have run
    hint: `switchboard calls --server echo` shows its state

    exit status 6
    --- stderr
    error: the `switchboard serve` that called `echo/echo` ended before it reported the outcome; the call may have run
    hint: `switchboard calls --server echo` shows its state

    exit status 6
    --- stderr
    error: the `switchboard serve` that called `echo/echo` ended before it reported the outcome; the call may have run
    hint: `switchboard calls --server echo` shows its state
    ");
}
