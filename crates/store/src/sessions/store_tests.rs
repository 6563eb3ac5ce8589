//! Tests of stored conversations: contents, lookup, and independent forks.

use proptest::prelude::*;

use super::*;

pub(crate) fn about(name: Option<&str>) -> NewSession {
    NewSession {
        name: name.map(str::to_owned),
        model: "small".to_owned(),
        folder: PathBuf::from("somewhere"),
    }
}

pub(crate) fn body(text: &str) -> Bytes {
    Bytes::from(format!(r#"{{"text":"{text}"}}"#))
}

impl SessionStore {
    /// Shortens the wait for other processes.
    pub(crate) fn wait_for_others(&self, limit: Duration) {
        self.0.connection.lock().busy_timeout(limit).unwrap();
    }

    /// Limits the size of the database, as a full disk would.
    pub(crate) fn limit_pages(&self, pages: u32) {
        let connection = self.0.connection.lock();
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    }
}

/// Appends steps with these texts.
async fn say(sessions: &SessionStore, id: &SessionId, texts: &[&str]) {
    let first = sessions.steps(id).await.unwrap().len() as u64 + 1;
    for (number, text) in (first..).zip(texts) {
        sessions.append(id, number, "said", body(text)).await.unwrap();
    }
}

async fn step_bodies(sessions: &SessionStore, id: &SessionId) -> Vec<Bytes> {
    sessions.steps(id).await.unwrap().into_iter().map(|step| step.body).collect()
}

#[tokio::test]
async fn a_conversation_is_read_back_whole_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record/sessions.db");
    let sessions = SessionStore::open(&path, Durability::Power).unwrap();
    assert_eq!(
        sessions.open_report(),
        Some(&OpenReport { created: true, ..OpenReport::default() })
    );
    let before = Timestamp::now();
    let id = sessions.create(about(Some(" trip "))).await.unwrap();
    sessions.append(&id, 1, "user", body("hello")).await.unwrap();
    sessions.append(&id, 2, "answer", Bytes::from_static(b"[ 1,\n2 ]")).await.unwrap();
    sessions.set_opening(&id, "hello …").await.unwrap();
    sessions.set_model(&id, "large").await.unwrap();
    drop(sessions);

    let sessions = SessionStore::open(&path, Durability::Power).unwrap();
    assert_eq!(sessions.open_report(), Some(&OpenReport::default()));
    let steps = sessions.steps(&id).await.unwrap();
    let summary = sessions.find(id.as_str()).await.unwrap();
    let micro = |time: Timestamp| Timestamp::from_microsecond(time.as_microsecond()).unwrap();
    assert!(micro(before) <= summary.created_at && summary.created_at <= steps[0].at);
    assert!(steps[0].at <= steps[1].at && steps[1].at <= Timestamp::now());
    let step =
        |number, at, kind: &str, body| SessionStep { number, at, kind: kind.to_owned(), body };
    assert_eq!(
        steps,
        [
            step(1, steps[0].at, "user", body("hello")),
            step(2, steps[1].at, "answer", Bytes::from_static(b"[ 1,\n2 ]")),
        ]
    );
    let expected = SessionSummary {
        id,
        name: Some("trip".to_owned()),
        model: "large".to_owned(),
        folder: PathBuf::from("somewhere"),
        created_at: summary.created_at,
        changed_at: steps[1].at,
        steps: 2,
        parent: None,
        opening: Some("hello …".to_owned()),
    };
    assert_eq!(summary, expected);
    assert_eq!(sessions.list(10).await.unwrap(), [expected]);
}

#[test]
fn only_where_power_may_fail_every_step_is_forced_to_the_disk() {
    for (durability, expected) in [(Durability::Process, 1), (Durability::Power, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let sessions = SessionStore::open(&folder.path().join("sessions.db"), durability).unwrap();
        let connection = sessions.0.connection.lock();
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
        assert_eq!(pragma("synchronous"), Ok(expected), "{durability:?}");
        assert_eq!(pragma("busy_timeout"), Ok(5000));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_comes_back_even_if_its_name_is_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let sessions = SessionStore::in_memory().unwrap();
    let folder = PathBuf::from(std::ffi::OsStr::from_bytes(b"/tmp/\xff\xfe"));
    let new = NewSession { folder: folder.clone(), ..about(None) };
    let id = sessions.create(new).await.unwrap();
    assert_eq!(sessions.find(id.as_str()).await.unwrap().folder, folder);
}

#[tokio::test]
async fn only_the_next_step_is_taken() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.create(about(None)).await.unwrap();
    say(&sessions, &id, &["a", "b"]).await;
    for number in [0, 1, 2, 4, u64::MAX] {
        let error = sessions.append(&id, number, "said", body("x")).await.unwrap_err();
        assert_eq!(error, SessionError::Conflict { id: id.clone(), number });
        assert!(error.to_string().contains("elsewhere"), "{error}");
        assert!(error.hint().unwrap().contains("fork"));
    }
    sessions.append(&id, 3, "said", body("c")).await.unwrap();
    assert_eq!(step_bodies(&sessions, &id).await, [body("a"), body("b"), body("c")]);
}

#[tokio::test]
async fn nothing_can_be_done_with_a_conversation_that_is_gone() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.create(about(Some("short"))).await.unwrap();
    say(&sessions, &id, &["a"]).await;
    sessions.keep_text(&id, "t1", "long").await.unwrap();
    sessions.delete(&id).await.unwrap();
    let unknown = Err(SessionError::Unknown { word: id.to_string(), near: vec![] });
    assert_eq!(sessions.append(&id, 1, "said", body("x")).await, unknown);
    assert_eq!(sessions.append(&id, 2, "said", body("x")).await, unknown);
    assert_eq!(sessions.steps(&id).await.map(drop), unknown);
    assert_eq!(sessions.rename(&id, "new").await, unknown);
    assert_eq!(sessions.set_opening(&id, "new").await, unknown);
    assert_eq!(sessions.set_model(&id, "new").await, unknown);
    assert_eq!(sessions.keep_text(&id, "t1", "x").await, unknown);
    assert_eq!(sessions.fork(&id, 1, None).await.map(drop), unknown);
    assert_eq!(sessions.delete(&id).await, unknown);
    assert_eq!(sessions.find(id.as_str()).await.map(drop), unknown);
    assert_eq!(sessions.text(&id, "t1").await, Ok(None));
    assert_eq!(sessions.list(10).await, Ok(vec![]));
}

#[tokio::test]
async fn a_list_begins_with_what_was_changed_last() {
    let sessions = SessionStore::in_memory().unwrap();
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(sessions.create(about(Some(name))).await.unwrap());
    }
    say(&sessions, &ids[0], &["x"]).await;
    sessions.rename(&ids[1], "renamed").await.unwrap();
    let names = async |limit| -> Vec<_> {
        let listed = sessions.list(limit).await.unwrap();
        listed.into_iter().filter_map(|session| session.name).collect()
    };
    assert_eq!(names(10).await, ["a", "c", "renamed"], "a name is no step");
    assert_eq!(names(2).await, ["a", "c"]);
    assert_eq!(sessions.find("last").await.unwrap().id, ids[0]);
}

#[tokio::test]
async fn a_word_finds_one_conversation_or_says_why_not() {
    let sessions = SessionStore::in_memory().unwrap();
    let none = sessions.find("last").await.unwrap_err();
    assert_eq!(none, SessionError::Unknown { word: "last".to_owned(), near: vec![] });

    let ids = ["aaaa11112222", "aaaa11113333", "bbbb00000000", "cccc00000000", "dddd00000000"];
    let names = [Some("holiday plans"), None, Some("twice"), Some("twice"), Some("aaaa")];
    for (index, (id, name)) in ids.into_iter().zip(names).enumerate() {
        let made = sessions.create(about(name)).await.unwrap();
        let time = i64::try_from(index).unwrap();
        let connection = sessions.0.connection.lock();
        connection
            .execute(
                "UPDATE sessions SET id = ?2, changed_at = ?3 WHERE id = ?1",
                (made.as_str(), id, time),
            )
            .unwrap();
    }
    let both = || vec!["`cccc00000000` (twice)".to_owned(), "`bbbb00000000` (twice)".to_owned()];
    let several =
        |word: &str, candidates| Err(SessionError::Ambiguous { word: word.to_owned(), candidates });
    let unknown = |word: &str, near: &[&str]| {
        let near = near.iter().map(|&name| name.to_owned()).collect();
        Err(SessionError::Unknown { word: word.to_owned(), near })
    };
    for (word, expected) in [
        ("bbbb00000000", Ok("bbbb00000000")),
        (" bbbb00000000 ", Ok("bbbb00000000")),
        ("holiday plans", Ok("aaaa11112222")),
        ("last", Ok("dddd00000000")),
        ("aaaa", Ok("dddd00000000")),
        ("aaaa11113", Ok("aaaa11113333")),
        ("b", Ok("bbbb00000000")),
        ("twice", several("twice", both())),
        (
            "aaaa1111",
            several(
                "aaaa1111",
                vec!["`aaaa11113333`".to_owned(), "`aaaa11112222` (holiday plans)".to_owned()],
            ),
        ),
        ("holday plans", unknown("holday plans", &["holiday plans"])),
        ("bbbb00000001", unknown("bbbb00000001", &["bbbb00000000"])),
        ("zzz", unknown("zzz", &[])),
        ("%", unknown("%", &[])),
        ("", unknown("", &[])),
    ] {
        let found = sessions.find(word).await.map(|found| found.id.to_string());
        assert_eq!(found, expected.map(str::to_owned), "{word}");
    }
}

#[tokio::test]
async fn a_word_that_means_many_names_the_last_few() {
    let sessions = SessionStore::in_memory().unwrap();
    for _ in 0..20 {
        sessions.create(about(Some("same"))).await.unwrap();
    }
    let Err(SessionError::Ambiguous { candidates, .. }) = sessions.find("same").await else {
        panic!("twenty conversations have that name");
    };
    assert_eq!((candidates.len(), candidates.last().unwrap().as_str()), (9, "…"));
}

#[tokio::test]
async fn names_that_nobody_could_type_are_refused() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.create(about(None)).await.unwrap();
    say(&sessions, &id, &["a"]).await;
    let long = "x".repeat(101);
    for name in ["", "  ", "last", "a\nb", "\u{1b}[31m", &long] {
        let bad = Err(SessionError::BadName(name.to_owned()));
        assert_eq!(sessions.rename(&id, name).await, bad);
        assert_eq!(sessions.create(about(Some(name))).await.map(drop), bad);
        assert_eq!(sessions.fork(&id, 1, Some(name.to_owned())).await.map(drop), bad);
    }
    for name in ["Last", "größer 🙂", "x"] {
        sessions.rename(&id, name).await.unwrap();
        assert_eq!(sessions.find(name).await.unwrap().id, id, "{name}");
    }
}

#[tokio::test]
async fn a_fork_takes_steps_and_texts_along_and_goes_its_own_way() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.create(about(Some("trunk"))).await.unwrap();
    say(&sessions, &id, &["a", "b", "c"]).await;
    sessions.set_opening(&id, "a …").await.unwrap();
    sessions.keep_text(&id, "t1", "long").await.unwrap();
    let fork = sessions.fork(&id, 2, Some("branch".to_owned())).await.unwrap();
    let trunk = sessions.steps(&id).await.unwrap();
    let branch = sessions.steps(&fork).await.unwrap();
    assert_eq!(branch, trunk[..2]);
    let summary = sessions.find("branch").await.unwrap();
    let expected = SessionSummary {
        id: fork.clone(),
        name: Some("branch".to_owned()),
        steps: 2,
        parent: Some((id.clone(), 2)),
        created_at: summary.created_at,
        changed_at: summary.created_at,
        ..sessions.find("trunk").await.unwrap()
    };
    assert_eq!(summary, expected);

    say(&sessions, &fork, &["other"]).await;
    sessions.keep_text(&fork, "t1", "changed").await.unwrap();
    assert_eq!(step_bodies(&sessions, &id).await, [body("a"), body("b"), body("c")]);
    assert_eq!(sessions.text(&id, "t1").await.unwrap().as_deref(), Some("long"));
    sessions.delete(&id).await.unwrap();
    assert_eq!(step_bodies(&sessions, &fork).await, [body("a"), body("b"), body("other")]);
    assert_eq!(sessions.text(&fork, "t1").await.unwrap().as_deref(), Some("changed"));
    assert_eq!(sessions.find("branch").await.unwrap().parent, Some((id, 2)));

    for number in [0, 4, u64::MAX] {
        let error = sessions.fork(&fork, number, None).await.unwrap_err();
        assert_eq!(error, SessionError::NoSuchStep { id: fork.clone(), number, steps: 3 });
    }
}

#[tokio::test]
async fn a_text_is_kept_under_its_handle_until_it_is_replaced() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.create(about(None)).await.unwrap();
    let other = sessions.create(about(None)).await.unwrap();
    let long = "line\u{0}\n".repeat(100_000);
    for (handle, text) in [("t1", "old"), ("t2", &long), ("t1", "new"), ("", "")] {
        sessions.keep_text(&id, handle, text).await.unwrap();
        assert_eq!(sessions.text(&id, handle).await.unwrap().as_deref(), Some(text));
    }
    assert_eq!(sessions.text(&id, "t3").await.unwrap(), None);
    assert_eq!(sessions.text(&other, "t1").await.unwrap(), None);
}

#[tokio::test]
async fn what_is_in_memory_is_shared_by_clones_and_gone_with_them() {
    let sessions = SessionStore::in_memory().unwrap();
    let id = sessions.clone().create(about(None)).await.unwrap();
    say(&sessions.clone(), &id, &["a"]).await;
    assert_eq!(step_bodies(&sessions, &id).await, [body("a")]);
    assert_eq!(sessions.open_report(), None);
    assert_eq!(SessionStore::in_memory().unwrap().list(10).await, Ok(vec![]));
}

/// An operation on one of the conversations, chosen by index.
#[derive(Debug, Clone)]
enum Act {
    Create,
    Append(usize),
    AppendWrong(usize, u64),
    Fork(usize, u64),
    Delete(usize),
    Keep(usize, u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => Just(Act::Create),
        6 => any::<usize>().prop_map(Act::Append),
        1 => (any::<usize>(), 0..12_u64).prop_map(|(which, number)| Act::AppendWrong(which, number)),
        3 => (any::<usize>(), 0..8_u64).prop_map(|(which, upto)| Act::Fork(which, upto)),
        1 => any::<usize>().prop_map(Act::Delete),
        2 => (any::<usize>(), 0..3_u8).prop_map(|(which, handle)| Act::Keep(which, handle)),
    ]
}

/// Expected content of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    id: SessionId,
    steps: Vec<Bytes>,
    texts: std::collections::BTreeMap<String, String>,
}

impl Expected {
    fn empty(id: SessionId) -> Self {
        Self { id, steps: Vec::new(), texts: Default::default() }
    }
}

async fn perform(sessions: &SessionStore, expected: &mut Vec<Expected>, act: Act, count: usize) {
    let chosen = |which: usize| which.checked_rem(expected.len());
    let fresh = body(&format!("{count}"));
    match act {
        Act::Create => {
            expected.push(Expected::empty(sessions.create(about(None)).await.unwrap()));
        }
        Act::Append(which) => {
            let Some(session) = chosen(which).and_then(|at| expected.get_mut(at)) else { return };
            let number = session.steps.len() as u64 + 1;
            sessions.append(&session.id, number, "said", fresh.clone()).await.unwrap();
            session.steps.push(fresh);
        }
        Act::AppendWrong(which, number) => {
            let Some(session) = chosen(which).and_then(|at| expected.get(at)) else { return };
            if number != session.steps.len() as u64 + 1 {
                let refused = sessions.append(&session.id, number, "said", fresh).await;
                let id = session.id.clone();
                assert_eq!(refused, Err(SessionError::Conflict { id, number }));
            }
        }
        Act::Fork(which, upto) => {
            let Some(session) = chosen(which).and_then(|at| expected.get(at)).cloned() else {
                return;
            };
            let forked = sessions.fork(&session.id, upto, None).await;
            if upto == 0 || upto > session.steps.len() as u64 {
                assert!(matches!(forked, Err(SessionError::NoSuchStep { .. })), "{forked:?}");
                return;
            }
            let steps = session.steps[..usize::try_from(upto).unwrap()].to_vec();
            expected.push(Expected { id: forked.unwrap(), steps, ..session });
        }
        Act::Delete(which) => {
            let Some(at) = chosen(which) else { return };
            sessions.delete(&expected.remove(at).id).await.unwrap();
        }
        Act::Keep(which, handle) => {
            let Some(session) = chosen(which).and_then(|at| expected.get_mut(at)) else { return };
            let handle = format!("t{handle}");
            let text = format!("text {count}");
            sessions.keep_text(&session.id, &handle, &text).await.unwrap();
            session.texts.insert(handle, text);
        }
    }
}

async fn found(sessions: &SessionStore) -> Vec<Expected> {
    let mut all = Vec::new();
    for summary in sessions.list(1000).await.unwrap() {
        let mut session = Expected::empty(summary.id);
        let steps = sessions.steps(&session.id).await.unwrap();
        assert!(steps.iter().map(|step| step.number).eq(1..=summary.steps));
        session.steps = steps.into_iter().map(|step| step.body).collect();
        for handle in ["t0", "t1", "t2"] {
            let text = sessions.text(&session.id, handle).await.unwrap();
            session.texts.extend(text.map(|text| (handle.to_owned(), text)));
        }
        all.push(session);
    }
    all.sort_by(|left, right| left.id.cmp(&right.id));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_done_steps_are_counted_from_one_and_forks_are_independent(
        acts in prop::collection::vec(act(), 1..40)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sessions = SessionStore::in_memory().unwrap();
            let mut expected = Vec::new();
            for (count, act) in acts.into_iter().enumerate() {
                perform(&sessions, &mut expected, act, count).await;
            }
            expected.sort_by(|left, right| left.id.cmp(&right.id));
            assert_eq!(found(&sessions).await, expected);
        });
    }
}

#[test]
fn one_at_a_time_goes_on_with_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let ours = SessionStore::open(&file, Durability::Process).unwrap();
    let theirs = SessionStore::open(&file, Durability::Process).unwrap();
    let one = "aaaaaaaaaaaa";
    let other = "bbbbbbbbbbbb";
    let [one, other] = [one, other].map(|id| SessionId::parse(id).unwrap());
    let held = ours.lock_session(&one).unwrap();
    assert_eq!(theirs.lock_session(&one).unwrap_err(), SessionError::InUse { id: one.clone() });
    theirs.lock_session(&other).unwrap();
    drop(held);
    theirs.lock_session(&one).unwrap();
}
