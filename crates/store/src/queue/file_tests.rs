//! Tests of the review queue: visible to all processes, ended once, erased when the answer is
//! taken.

use std::sync::Barrier;

use serde_json::json;

use super::*;
use crate::queue::entry::{AskMatter, AskedFor, Matter, ReviewMatter};

/// How long entries stay pending.
const LIMIT: Duration = Duration::from_secs(300);

fn review(arguments: &str) -> QueuedQuestion {
    let matter = Matter::Review(ReviewMatter {
        server: "files".to_owned(),
        kind: "tool".to_owned(),
        target: "write".to_owned(),
        arguments: arguments.to_owned(),
        definition: "d".to_owned(),
        why: "no rule allows it".to_owned(),
        problem: None,
        risk: Default::default(),
    });
    QueuedQuestion {
        matter,
        call: Some("7".to_owned()),
        reference: None,
        caller: Some("me".to_owned()),
    }
}

fn form() -> QueuedQuestion {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
        "required": ["name"]});
    let matter = Matter::Ask(AskMatter {
        server: "notes".to_owned(),
        tool: None,
        message: "Who?".to_owned(),
        wanted: AskedFor::Form { schema: schema.to_string() },
    });
    QueuedQuestion { matter, call: None, reference: None, caller: None }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("record").join("waiting.db")
    }

    /// Returns a separate handle, like that of another process.
    fn file(&self) -> Arc<QueueFile> {
        QueueFile::at(&self.path())
    }
}

fn answer(
    file: &QueueFile,
    entry: &QueueEntry,
    given: &UserDecision,
    by: &str,
) -> Result<(), QueueError> {
    file.answer(&QueueAnswer { id: &entry.id, digest: &entry.digest, decision: given, by })
}

fn over(entry: &QueueEntry, how: &str) -> QueueError {
    QueueError::Over { id: entry.id.clone(), how: how.to_owned() }
}

#[test]
fn no_file_is_made_before_something_waits() {
    let folder = Folder::new();
    let file = folder.file();
    assert_eq!(file.list(), Ok(Vec::new()));
    assert_eq!(file.find("abcd"), Err(QueueError::Unknown("abcd".to_owned())));
    assert!(!folder.path().parent().unwrap().exists());
}

#[test]
fn what_waits_is_seen_elsewhere_answered_there_and_taken_once() {
    let folder = Folder::new();
    let owner = folder.file();
    let other = folder.file();
    let entry = owner.post(&review("{}"), LIMIT).unwrap();
    assert_eq!(entry.asked, review("{}"));
    assert_eq!(entry.state, EntryState::Waiting);
    assert_eq!(entry.id.len(), 4);
    assert!(entry.owner.starts_with(&format!("{}-", std::process::id())), "{entry:?}");
    assert_eq!(other.list(), Ok(vec![entry.clone()]));
    assert_eq!(owner.is_over(&entry.id), Ok(false));
    let given = UserDecision::Reject("read it first".to_owned());
    answer(&other, &entry, &given, "me").unwrap();
    assert_eq!(owner.is_over(&entry.id), Ok(true));
    assert_eq!(other.list(), Ok(Vec::new()));
    let state = EntryState::Answered { by: "me".to_owned(), word: "reject".to_owned() };
    assert_eq!(owner.take(&entry.id, &entry.digest), Ok((state.clone(), Some(given))));
    assert_eq!(owner.take(&entry.id, &entry.digest), Ok((state, None)));
    let late = answer(&other, &entry, &UserDecision::Run, "you");
    assert_eq!(late, Err(over(&entry, "already answered by me, with `reject`")));
}

#[test]
fn of_many_who_answer_at_once_one_wins_and_the_others_hear_who() {
    const ROUNDS: usize = 5;
    const THREADS: usize = 12;
    let folder = Folder::new();
    let owner = folder.file();
    for _ in 0..ROUNDS {
        let entry = owner.post(&review("{}"), LIMIT).unwrap();
        let together = Barrier::new(THREADS);
        let results: Vec<Result<(), QueueError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let file = folder.file();
                    let entry = &entry;
                    let together = &together;
                    scope.spawn(move || {
                        file.list().unwrap();
                        let given = UserDecision::Reject(number.to_string());
                        together.wait();
                        answer(&file, entry, &given, &number.to_string())
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let won: Vec<usize> = (0..THREADS).filter(|at| results[*at].is_ok()).collect();
        let [winner] = won[..] else { panic!("{won:?} won") };
        let how = format!("already answered by {winner}, with `reject`");
        let lost = |result: &&Result<(), QueueError>| **result == Err(over(&entry, &how));
        assert_eq!(results.iter().filter(lost).count(), THREADS - 1, "{results:?}");
        let (_, given) = owner.take(&entry.id, &entry.digest).unwrap();
        assert_eq!(given, Some(UserDecision::Reject(winner.to_string())));
    }
}

#[test]
fn the_face_of_the_owner_and_another_one_cannot_both_win() {
    let folder = Folder::new();
    let owner = folder.file();
    let other = folder.file();
    let here = EntryState::Answered { by: "here".to_owned(), word: "skip".to_owned() };
    let first = owner.post(&review("{}"), LIMIT).unwrap();
    assert_eq!(owner.end(&first.id, &here), Ok(true));
    let late = answer(&other, &first, &UserDecision::Run, "you");
    assert_eq!(late, Err(over(&first, "already answered by here, with `skip`")));
    let second = owner.post(&review("{}"), LIMIT).unwrap();
    answer(&other, &second, &UserDecision::Run, "you").unwrap();
    assert_eq!(owner.end(&second.id, &here), Ok(false));
    assert_eq!(owner.take(&second.id, &second.digest).unwrap().1, Some(UserDecision::Run));
}

#[test]
fn an_answer_that_quotes_another_digest_is_refused() {
    let folder = Folder::new();
    let file = folder.file();
    let entry = file.post(&review("{}"), LIMIT).unwrap();
    let digest = &review(r#"{"path": "/"}"#).matter.digest();
    let answered = QueueAnswer { id: &entry.id, digest, decision: &UserDecision::Run, by: "me" };
    let refused = QueueError::OtherDigest { id: entry.id.clone() };
    assert_eq!(file.answer(&answered), Err(refused.clone()));
    assert_eq!(file.is_over(&entry.id), Ok(false));
    // Change the stored question, but not its digest.
    let changed = serde_json::to_string(&review(r#"{"path": "/"}"#)).unwrap();
    let connection = Connection::open(folder.path()).unwrap();
    connection.execute("UPDATE entries SET asked = ?1", [changed]).unwrap();
    assert_eq!(answer(&file, &entry, &UserDecision::Run, "me"), Err(refused.clone()));
    // Change the answer as well.
    connection
        .execute("UPDATE entries SET state = 'answered', answer = '{\"said\":\"run\"}'", [])
        .unwrap();
    assert_eq!(file.take(&entry.id, &entry.digest), Err(refused));
}

#[test]
fn what_expired_does_not_wait_and_takes_no_answer() {
    let folder = Folder::new();
    let owner = folder.file();
    let other = folder.file();
    let entry = owner.post(&review("{}"), Duration::ZERO).unwrap();
    let stays = owner.post(&review("{}"), LIMIT).unwrap();
    assert_eq!(other.list(), Ok(vec![stays]));
    let late = answer(&other, &entry, &UserDecision::Run, "me");
    assert_eq!(late, Err(over(&entry, "it expired without an answer")));
    assert_eq!(owner.take(&entry.id, &entry.digest), Ok((EntryState::Expired, None)));
}

#[test]
fn what_a_dead_process_left_behind_is_withdrawn_with_its_answers() {
    let folder = Folder::new();
    let owner = folder.file();
    let other = folder.file();
    let waits = owner.post(&review("{}"), LIMIT).unwrap();
    let answered = owner.post(&form(), LIMIT).unwrap();
    let name = json!({"name": "Ada"}).as_object().cloned();
    answer(&other, &answered, &UserDecision::Accept(name), "me").unwrap();
    assert_eq!(other.list().unwrap().len(), 1);
    drop(owner);
    assert_eq!(other.list(), Ok(Vec::new()));
    let late = answer(&other, &waits, &UserDecision::Run, "me");
    assert_eq!(late, Err(over(&waits, "it was withdrawn: the process that asked has ended")));
    assert_eq!(other.take(&answered.id, &answered.digest).unwrap().1, None);
}

#[test]
fn what_a_client_asked_outlives_its_process_for_the_same_call_of_the_same_client() {
    let folder = Folder::new();
    let asked = |caller: &str, arguments: &str| QueuedQuestion {
        caller: Some(format!("gateway, client:{caller}")),
        ..review(arguments)
    };
    let owner = folder.file();
    let entry = owner.post(&asked("a", "{}"), LIMIT).unwrap();
    let late = owner.post(&asked("a", "[]"), Duration::ZERO).unwrap();
    drop(owner);
    let next = folder.file();
    let left = QueueEntry { is_left: true, ..entry.clone() };
    assert_eq!(next.list(), Ok(vec![left]));
    answer(&next, &entry, &UserDecision::Run, "me").unwrap();
    for (caller, arguments) in [("b", "{}"), ("a", "{ }"), ("a", "[]")] {
        let own = next.post(&asked(caller, arguments), LIMIT).unwrap();
        assert_eq!(own.state, EntryState::Waiting, "{caller} {arguments}");
        assert!(![&entry.id, &late.id].contains(&&own.id), "{caller} {arguments}");
    }
    let again = next.post(&asked("a", "{}"), LIMIT).unwrap();
    assert_eq!(again.id, entry.id);
    assert_eq!(next.take(&again.id, &again.digest).unwrap().1, Some(UserDecision::Run));
    // The answer is used once.
    assert_ne!(next.post(&asked("a", "{}"), LIMIT).unwrap().id, entry.id);
}

#[test]
fn nothing_of_an_answer_is_left_once_it_was_taken() {
    let folder = Folder::new();
    let owner = folder.file();
    let other = folder.file();
    let entry = owner.post(&form(), LIMIT).unwrap();
    let name = "a name that is nobody's business";
    let content = json!({"name": name}).as_object().cloned();
    answer(&other, &entry, &UserDecision::Accept(content.clone()), "me").unwrap();
    let holds = || {
        let files = std::fs::read_dir(folder.path().parent().unwrap()).unwrap();
        let files = files.filter_map(|file| std::fs::read(file.unwrap().path()).ok());
        let wanted = name.as_bytes();
        files.filter(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted)).count()
    };
    assert_ne!(holds(), 0, "the test looks in the wrong place");
    assert_eq!(
        owner.take(&entry.id, &entry.digest).unwrap().1,
        Some(UserDecision::Accept(content))
    );
    assert_eq!(holds(), 0);
}
