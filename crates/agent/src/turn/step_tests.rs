//! What the machine does, input by input.

use proptest::prelude::*;
use switchboard_core::OutcomeKind;
use switchboard_prompting::{Message, Stop, Trouble, Usage, estimate};

use super::*;

fn limits() -> Limits {
    Limits { steps: 10, mistakes: 3, unasked: 5, calls: Several::Each, window: 100_000 }
}

fn said(text: &str) -> Input {
    Input::Said { text: text.to_owned(), images: Vec::new() }
}

fn answer(text: &str, asked: Vec<Asked>) -> Input {
    Input::Answered(Box::new(Answer {
        text: text.to_owned(),
        asked,
        native: true,
        kept: None,
        stop: Stop::End,
        usage: Usage::default(),
        prompt_tokens: 0,
        model: "m".to_owned(),
    }))
}

fn call(id: &str, arguments: &str) -> Asked {
    Asked {
        id: id.to_owned(),
        name: "s__t".to_owned(),
        arguments: arguments.to_owned(),
        what: What::Call {
            server: "s".to_owned(),
            wanted: WantedKind::Tool,
            target: "t".to_owned(),
            arguments: arguments.to_owned(),
        },
    }
}

fn mistake(id: &str) -> Asked {
    Asked { what: What::Mistake { message: "no such tool".to_owned() }, ..call(id, "{}") }
}

fn ended(slot: usize, outcome: OutcomeKind, consent: Consent) -> Input {
    let end = Ended { consent, ..Ended::not_run(outcome, format!("result {slot}")) };
    Input::Ended { slot, end: Box::new(end) }
}

fn compacted(upto: usize, summary: &str) -> Input {
    Input::Compacted { upto, summary: summary.to_owned(), handle: Some("h1".to_owned()) }
}

fn left_out(slot: usize, text: &str) -> Effect {
    Effect::LeaveOut { slot, outcome: OutcomeKind::Cancelled, text: text.to_owned() }
}

fn ok(slot: usize) -> Input {
    ended(slot, OutcomeKind::Ok, Consent::Person)
}

/// Takes the inputs one after the other; gives the last state and the effects of the last input.
fn after(limits: Limits, inputs: Vec<Input>) -> (State, Vec<Effect>) {
    let mut state = step(State::default(), Input::Began { limits }).0;
    let mut effects = Vec::new();
    for input in inputs {
        (state, effects) = step(state, input);
    }
    (state, effects)
}

fn results(state: &State) -> Vec<(String, String)> {
    let Some(Message::Results { results }) =
        state.messages.iter().rev().find(|message| matches!(message, Message::Results { .. }))
    else {
        return Vec::new();
    };
    results.iter().map(|result| (result.id.clone(), result.text.clone())).collect()
}

fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let (state, effects) = after(limits(), vec![said("hi")]);
    assert_eq!(effects, [Effect::AskModel]);
    let (state, effects) = step(state, answer("hello", vec![]));
    assert_eq!(effects, [Effect::End(TurnEnd::Done)]);
    assert!(state.is_idle());
    assert_eq!(state.messages.len(), 2);
}

#[test]
fn calls_run_one_after_the_other_and_their_results_go_back_in_order() {
    let two = vec![call("a", "{\"n\":1}"), call("b", "{\"n\":2}")];
    let (state, effects) = after(limits(), vec![said("go"), answer("", two)]);
    assert_eq!(effects, [Effect::Run { slot: 0 }]);
    let (state, effects) = step(state, ok(0));
    assert_eq!(effects, [Effect::Run { slot: 1 }]);
    let (state, effects) = step(state, ok(1));
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", "result 1")]);
}

#[test]
fn parallel_calls_start_together_and_report_in_the_order_in_which_they_were_asked_for() {
    let limits = Limits { calls: Several::Parallel, ..limits() };
    let two = vec![call("a", "{\"n\":1}"), call("b", "{\"n\":2}")];
    let (state, effects) = after(limits, vec![said("go"), answer("", two)]);
    assert_eq!(effects, [Effect::Run { slot: 0 }, Effect::Run { slot: 1 }]);
    let (state, effects) = step(state, ok(1));
    assert_eq!(effects, []);
    let (state, effects) = step(state, ok(0));
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", "result 1")]);
}

#[test]
fn where_one_call_is_allowed_the_others_are_told_to_wait() {
    let limits = Limits { calls: Several::One, ..limits() };
    let three = vec![mistake("x"), call("a", "{}"), call("b", "{}")];
    let (state, effects) = after(limits, vec![said("go"), answer("", three)]);
    assert_eq!(effects, [left_out(2, words::ONE_AT_A_TIME), Effect::Run { slot: 1 }]);
    let (state, _) = step(state, ok(1));
    assert_eq!(
        results(&state),
        [pair("x", "no such tool"), pair("a", "result 1"), pair("b", words::ONE_AT_A_TIME)]
    );
}

#[test]
fn after_a_rejection_the_rest_of_the_message_is_left_out_and_the_model_goes_on() {
    let two = vec![call("a", "{}"), call("b", "{}")];
    let rejected = ended(0, OutcomeKind::Rejected, Consent::Person);
    let (state, effects) = after(limits(), vec![said("go"), answer("", two), rejected]);
    assert_eq!(effects, [left_out(1, words::AFTER_REJECTION), Effect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", words::AFTER_REJECTION)]);
}

#[test]
fn three_mistakes_in_a_row_ask_the_person_and_their_words_go_to_the_model() {
    let wrong = || answer("", vec![mistake("x")]);
    let (state, effects) = after(limits(), vec![said("go"), wrong(), wrong()]);
    assert_eq!(effects, [Effect::AskModel]);
    let (state, effects) = step(state, wrong());
    assert_eq!(effects, [Effect::AskPerson(Limit::Mistakes(3))]);
    let (state, effects) = step(state, said("use the other tool"));
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(
        state.messages.last(),
        Some(&Message::User { text: "use the other tool".to_owned(), images: Vec::new() })
    );
}

#[test]
fn a_good_call_ends_a_row_of_mistakes() {
    let wrong = || answer("", vec![mistake("x")]);
    let good = || answer("", vec![call("a", "{}")]);
    let inputs = vec![said("go"), wrong(), wrong(), good(), ok(0), wrong(), wrong()];
    assert_eq!(after(limits(), inputs).1, [Effect::AskModel]);
}

#[test]
fn the_same_call_warns_the_third_time_and_asks_the_person_the_fifth() {
    let limits = Limits { steps: 100, ..limits() };
    let again = || answer("", vec![call("a", "{\"x\":1}")]);
    let (mut state, _) = after(limits, vec![said("go")]);
    for time in 1..=4 {
        let (next, effects) = step(state, again());
        assert_eq!(effects, [Effect::Run { slot: 0 }], "{time}");
        state = step(next, ok(0)).0;
        let told = results(&state).remove(0).1;
        assert_eq!(told.contains("same call"), time >= 3, "{time}: {told}");
    }
    let (state, effects) = step(state, again());
    let text = words::repeated_too_often(5);
    let not_run = Effect::LeaveOut { slot: 0, outcome: OutcomeKind::Denied, text };
    assert_eq!(effects, [not_run, Effect::AskPerson(Limit::Repeats(5))]);
    assert!(results(&state).remove(0).1.starts_with("Not run"));
    let (_, effects) = step(state, Input::Decided { decision: Decision::GoOn });
    assert_eq!(effects, [Effect::AskModel]);
}

#[test]
fn after_so_many_calls_that_nobody_was_asked_about_the_person_is_asked() {
    let limits = Limits { unasked: 2, ..limits() };
    let unasked = |slot| ended(slot, OutcomeKind::Ok, Consent::Rule);
    let calls = || {
        let number = |n: u32| call("a", &format!("{{\"n\":{n}}}"));
        answer("", vec![number(1), number(2)])
    };
    let inputs = vec![said("go"), calls(), unasked(0), unasked(1)];
    let (state, effects) = after(limits.clone(), inputs);
    assert_eq!(effects, [Effect::AskPerson(Limit::Unasked(2))]);
    let (state, effects) = step(state, Input::Decided { decision: Decision::Stop });
    assert_eq!(effects, [Effect::End(TurnEnd::Stopped(Limit::Unasked(2)))]);
    assert!(state.is_idle());
    // A question that a person answered begins the count again.
    let inputs = vec![said("go"), calls(), unasked(0), ok(1)];
    assert_eq!(after(limits, inputs).1, [Effect::AskModel]);
}

#[test]
fn the_number_of_steps_of_a_turn_has_a_limit() {
    let limits = Limits { steps: 1, ..limits() };
    let inputs = vec![said("go"), answer("", vec![call("a", "{}")]), ok(0)];
    assert_eq!(after(limits, inputs).1, [Effect::AskPerson(Limit::Steps(1))]);
}

#[test]
fn what_is_typed_while_a_tool_runs_follows_its_result() {
    let inputs = vec![said("go"), answer("", vec![call("a", "{}")]), said("and be quick"), ok(0)];
    let (state, effects) = after(limits(), inputs);
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(
        state.messages.last(),
        Some(&Message::User { text: "and be quick".to_owned(), images: Vec::new() })
    );
    // Typed while the model answers, it begins the next turn.
    let inputs = vec![said("go"), said("wait"), answer("done", vec![])];
    let (state, effects) = after(limits(), inputs);
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(state.messages.len(), 3);
}

#[test]
fn a_cancelled_answer_keeps_what_was_heard() {
    let heard = Interruption { heard: "Once upon".to_owned() };
    let (state, effects) = after(limits(), vec![said("tell"), Input::Cancelled(heard)]);
    assert_eq!(effects, [Effect::StopAll, Effect::End(TurnEnd::Cancelled)]);
    let Some(Message::Assistant { text, .. }) = state.messages.last() else { panic!() };
    assert_eq!(text, &format!("Once upon{}", words::INTERRUPTED));
}

#[test]
fn a_cancelled_call_is_waited_for_and_the_rest_does_not_begin() {
    let two = vec![call("a", "{}"), call("b", "{}")];
    let cancel = Input::Cancelled(Interruption::default());
    let (state, effects) = after(limits(), vec![said("go"), answer("", two), cancel]);
    assert_eq!(effects, [Effect::StopAll, left_out(1, words::CANCELLED)]);
    let (state, effects) = step(state, ended(0, OutcomeKind::Cancelled, Consent::Rule));
    assert_eq!(effects, [Effect::End(TurnEnd::Cancelled)]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", words::CANCELLED)]);
}

#[test]
fn a_model_that_failed_can_be_asked_once_more() {
    let failure = Failure { trouble: Trouble::Busy, message: "busy".to_owned(), hint: None };
    let (state, effects) = after(limits(), vec![said("go"), Input::NoAnswer(failure.clone())]);
    assert_eq!(effects, [Effect::End(TurnEnd::Failed(failure))]);
    assert_eq!(step(state, Input::Retried).1, [Effect::AskModel]);
}

#[test]
fn a_full_window_is_cut_before_the_model_is_asked_and_results_stay_with_their_calls() {
    let long = "word ".repeat(400);
    let limits = Limits { window: 2 * estimate(&long), ..limits() };
    let inputs = vec![said(&long), answer(&long, vec![]), said("and now?")];
    let (state, effects) = after(limits.clone(), inputs);
    assert_eq!(effects, [Effect::Compact { upto: 2 }]);
    let compacted = compacted(2, "They talked.");
    let (state, effects) = step(state, compacted);
    assert_eq!(effects, [Effect::AskModel]);
    assert_eq!(
        state.messages,
        [
            Message::User { text: words::summary("They talked.", Some("h1")), images: Vec::new() },
            Message::User { text: "and now?".to_owned(), images: Vec::new() },
        ]
    );
    let limits = Limits { window: 28 * estimate(&long) / 10, ..limits };
    // As long as fits beside nothing else: with what a result costs beside its words.
    let room = limits.window / 10 * 3 - 12;
    let words = (1..).map(|count| "word ".repeat(count)).find(|text| estimate(text) >= room);
    let result = Ended::not_run(OutcomeKind::Ok, words.unwrap());
    let inputs = vec![
        said(&long),
        answer(&long, vec![]),
        said("call"),
        answer("", vec![call("a", "{}")]),
        Input::Ended { slot: 0, end: Box::new(result) },
    ];
    let (state, effects) = after(limits, inputs);
    // The cut may not fall between the call and its result.
    assert_eq!(effects, [Effect::Compact { upto: 3 }]);
    assert!(matches!(state.messages.get(3), Some(Message::Assistant { .. })));
}

#[test]
fn a_vendor_that_finds_it_too_long_is_asked_once_more_with_less() {
    let too_long = || {
        Input::NoAnswer(Failure {
            trouble: Trouble::TooLong,
            message: "too long".to_owned(),
            hint: None,
        })
    };
    let limits = Limits { window: 20, ..limits() };
    // One message alone is not made shorter by a summary.
    let (state, effects) = after(limits.clone(), vec![said("a"), too_long()]);
    assert!(matches!(effects.as_slice(), [Effect::End(TurnEnd::Failed(_))]), "{effects:?}");
    assert!(state.is_idle());
    let long = "word ".repeat(300);
    let inputs = vec![said(&long), answer(&long, vec![]), said("c"), too_long()];
    let (state, effects) = after(Limits { window: 2_000, ..limits }, inputs);
    assert_eq!(effects, [Effect::Compact { upto: 2 }]);
    let compacted = compacted(2, "s");
    let (state, _) = step(state, compacted);
    let (_, effects) = step(state, too_long());
    assert!(matches!(effects.as_slice(), [Effect::End(TurnEnd::Failed(_))]), "{effects:?}");
}

#[test]
fn what_was_undone_does_not_count_and_numbers_go_on() {
    let inputs = [
        Input::Began { limits: limits() },
        said("one"),
        answer("1", vec![]),
        said("two"),
        answer("2", vec![]),
        Input::Undone { to: 3 },
        said("three"),
    ];
    let entries: Vec<Entry> =
        (1..).zip(inputs).map(|(number, input)| Entry { number, input }).collect();
    let state = replay(entries);
    assert_eq!(state.number, 7);
    let texts: Vec<&str> = state
        .messages
        .iter()
        .map(|message| match message {
            Message::User { text, .. } | Message::Assistant { text, .. } => text.as_str(),
            Message::Results { .. } => "",
        })
        .collect();
    assert_eq!(texts, ["one", "1", "three"]);
    assert_eq!(state.pending(), [Effect::AskModel]);
}

#[test]
fn an_undo_goes_back_to_before_the_turn_whatever_was_said_in_the_middle_of_it() {
    let inputs = [
        Input::Began { limits: limits() },
        said("one"),
        answer("1", vec![]),
        said("two"),
        answer("", vec![call("a", "{}")]),
        said("typed meanwhile"),
        ok(0),
        answer("2", vec![]),
    ];
    let entries: Vec<Entry> =
        (1..).zip(inputs).map(|(number, input)| Entry { number, input }).collect();
    assert_eq!(before_last_turn(&entries), Some(3));
    assert_eq!(before_last_turn(&entries[..1]), None);
}

#[test]
fn calls_of_one_message_beyond_what_may_run_unasked_wait_for_the_person() {
    let limits = Limits { unasked: 2, ..limits() };
    let numbered = |n: u32| call("a", &format!("{{\"n\":{n}}}"));
    let three = answer("", vec![numbered(1), numbered(2), numbered(3)]);
    let unasked = |slot| ended(slot, OutcomeKind::Ok, Consent::Rule);
    let (_, effects) = after(limits, vec![said("go"), three, unasked(0), unasked(1)]);
    assert_eq!(
        effects,
        [left_out(2, words::TOO_MANY_UNASKED), Effect::AskPerson(Limit::Unasked(2))]
    );
}

#[test]
fn every_input_reads_back_from_what_is_kept() {
    let inputs = [
        Input::Began { limits: limits() },
        said("hi"),
        answer("x", vec![call("a", "{}"), mistake("b")]),
        ok(0),
        Input::Decided { decision: Decision::GoOn },
        Input::Cancelled(Interruption { heard: "h".to_owned() }),
        compacted(2, "s"),
        Input::Retried,
        Input::Undone { to: 1 },
    ];
    for input in inputs {
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<Input>(&text).unwrap(), input, "{text}");
    }
}

fn any_input() -> impl Strategy<Value = Input> {
    let asked = prop_oneof![
        (0..4_u8).prop_map(|n| call("a", &format!("{{\"n\":{n}}}"))),
        Just(mistake("x")),
    ];
    let outcome = prop_oneof![
        Just(OutcomeKind::Ok),
        Just(OutcomeKind::Rejected),
        Just(OutcomeKind::Cancelled),
        Just(OutcomeKind::NotSent),
    ];
    let consent = prop_oneof![Just(Consent::Rule), Just(Consent::Person), Just(Consent::NotNeeded)];
    prop_oneof![
        3 => "[a-z ]{0,300}".prop_map(|text| said(&text)),
        5 => ("[a-z]{0,300}", prop::collection::vec(asked, 0..4))
            .prop_map(|(text, asked)| answer(&text, asked)),
        5 => (0..4_usize, outcome, consent)
            .prop_map(|(slot, outcome, consent)| ended(slot, outcome, consent)),
        1 => Just(Input::Cancelled(Interruption::default())),
        1 => Just(Input::Decided { decision: Decision::GoOn }),
        1 => Just(Input::Decided { decision: Decision::Stop }),
        1 => Just(Input::Retried),
        1 => (0..6_usize).prop_map(|upto| compacted(upto, "s")),
    ]
}

proptest! {
    #[test]
    fn a_conversation_never_gets_stuck_and_replays_to_the_same_state(
        inputs in prop::collection::vec(any_input(), 0..60),
        several in prop_oneof![Just(Several::One), Just(Several::Each), Just(Several::Parallel)],
    ) {
        let limits = Limits { calls: several, window: 1_500, ..limits() };
        let mut state = State::default();
        let mut entries = Vec::new();
        for (number, input) in (1..).zip([Input::Began { limits }].into_iter().chain(inputs)) {
            entries.push(Entry { number, input: input.clone() });
            state = step(state, input).0;
            prop_assert_eq!(state.is_idle(), state.pending().is_empty(), "{:?}", state.phase);
            // Each native call has its result before anything else is said.
            for pair in state.messages.windows(2) {
                if let [Message::Assistant { calls, .. }, next] = pair
                    && !calls.is_empty()
                {
                    let Message::Results { results } = next else {
                        return Err(TestCaseError::fail(format!("{next:?}")));
                    };
                    prop_assert_eq!(calls.len(), results.len());
                }
            }
        }
        if let Some(to) = before_last_turn(&entries) {
            let mut undone = entries.clone();
            undone.push(Entry { number: state.number + 1, input: Input::Undone { to } });
            prop_assert!(replay(undone).is_idle());
        }
        let again = replay(entries);
        prop_assert_eq!(&again.messages, &state.messages);
        prop_assert_eq!(&again.phase, &state.phase);
    }
}

#[test]
fn a_result_of_somebody_whom_nobody_vouches_for_says_whose_it_is() {
    let mut end = Ended::not_run(OutcomeKind::Ok, "It is 21 degrees.");
    end.origin = Some("web/get".to_owned());
    let inputs = vec![
        said("hi"),
        answer("", vec![call("a", "{}")]),
        Input::Ended { slot: 0, end: Box::new(end) },
    ];
    let (state, _) = after(limits(), inputs);
    let expected = pair("a", "[Data from `web/get`:]\n\nIt is 21 degrees.");
    assert_eq!(results(&state), [expected]);
}
