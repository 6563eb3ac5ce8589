//! A minimal HTTP/1.1 client: bodies to the byte, and streams event by event.

use std::io::{BufRead, BufReader, Read, Result, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::running::TEST_TIMEOUT;

/// A response whose body is read on demand.
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<Body>,
}

/// Sends a request over its own connection to `http://host:port/path`.
pub(crate) fn send(verb: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let rest = url.strip_prefix("http://").expect("tests speak plain HTTP");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).expect("somebody listens there");
    // Ends a test that waits for data that never arrives.
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let mut head = format!("{verb} /{path} HTTP/1.1\r\nConnection: close\r\n");
    let given = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    if !given("host") {
        head += &format!("Host: {host}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
    Reply::read(stream)
}

impl Reply {
    fn read(stream: TcpStream) -> Self {
        let mut input = BufReader::new(stream);
        let status = line(&mut input);
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = line(&mut input);
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let has = |name: &str, value: &str| headers.iter().any(|(n, v)| n == name && v == value);
        let framing = if has("transfer-encoding", "chunked") {
            Framing::Chunks(0)
        } else {
            let length = headers.iter().find(|(name, _)| name == "content-length");
            Framing::Length(length.and_then(|(_, text)| text.parse().ok()).unwrap_or(0))
        };
        let status = status.expect("the answer begins with a status line");
        Self { status, headers, body: BufReader::new(Body { input, framing }) }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// Reads the complete body.
    pub(crate) fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }

    /// Reads the next event and returns its kind and data; `None` at the end.
    pub(crate) fn next_event(&mut self) -> Option<(String, String)> {
        let mut kind = "message".to_owned();
        let mut data = String::new();
        loop {
            let mut line = String::new();
            if self.body.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(name) = line.strip_prefix("event: ") {
                name.clone_into(&mut kind);
            } else if let Some(text) = line.strip_prefix("data: ") {
                data.push_str(text);
            } else if line.is_empty() && !data.is_empty() {
                return Some((kind, data));
            }
        }
    }

    /// Reads the next message on a stream.
    pub(crate) fn next_message(&mut self) -> Value {
        let (_, data) = self.next_event().expect("the stream goes on");
        serde_json::from_str(&data).unwrap()
    }

    /// Reads the next message, skipping notifications about lists, which may arrive at any time.
    pub(crate) fn next_of_a_request(&mut self) -> Value {
        loop {
            let message = self.next_message();
            let method = message["method"].as_str().unwrap_or_default();
            if !method.ends_with("list_changed") {
                return message;
            }
        }
    }

    /// Reads messages until one has this method and the condition holds.
    pub(crate) fn next_until(&mut self, method: &str, is_so: impl Fn() -> bool) -> Value {
        // The list may have changed earlier for another reason.
        for _ in 0..20 {
            let message = self.next_message();
            if message["method"] == method && is_so() {
                return message;
            }
        }
        panic!("what `{method}` should tell of did not come");
    }

    /// Returns every message of the answer as text, whether it is a stream or a single body.
    pub(crate) fn texts(mut self) -> Vec<String> {
        if !self.is_stream() {
            return vec![self.text()];
        }
        std::iter::from_fn(|| self.next_event()).map(|(_, data)| data).collect()
    }

    /// Returns every message of the answer, parsed.
    pub(crate) fn messages(self) -> Vec<Value> {
        self.texts().iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }
}

fn line(input: &mut impl BufRead) -> String {
    let mut line = String::new();
    input.read_line(&mut line).expect("the answer goes on");
    line.trim_end().to_owned()
}

enum Framing {
    Length(usize),
    /// The remaining bytes of the current chunk.
    Chunks(usize),
    End,
}

struct Body {
    input: BufReader<TcpStream>,
    framing: Framing,
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if let Framing::Chunks(0) = self.framing {
            let size = line(&mut self.input);
            let size = usize::from_str_radix(&size, 16).unwrap_or(0);
            self.framing = if size == 0 { Framing::End } else { Framing::Chunks(size) };
        }
        let left = match self.framing {
            Framing::Length(left) | Framing::Chunks(left) => left,
            Framing::End => 0,
        };
        let wanted = left.min(into.len());
        let count = self.input.read(&mut into[..wanted])?;
        match &mut self.framing {
            Framing::Length(left) => *left -= count,
            Framing::Chunks(left) => {
                *left -= count;
                if *left == 0 && count > 0 {
                    line(&mut self.input);
                }
            }
            Framing::End => {}
        }
        Ok(count)
    }
}
