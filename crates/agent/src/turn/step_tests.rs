//! Transitions of the state machine, input by input.

use proptest::prelude::*;
use switchboard_core::OutcomeKind;
use switchboard_prompting::{ChatMessage, ModelErrorKind, StopReason, TokenUsage, estimate_tokens};

use super::*;

fn limits() -> TurnLimits {
    TurnLimits { steps: 10, mistakes: 3, unasked: 5, calls: ParallelCalls::Each, window: 100_000 }
}

fn user_message(text: &str) -> TurnInput {
    TurnInput::Said { text: text.to_owned(), images: Vec::new() }
}

fn answer(text: &str, asked: Vec<TurnCall>) -> TurnInput {
    TurnInput::Answered(Box::new(TurnAnswer {
        text: text.to_owned(),
        asked,
        native: true,
        kept: None,
        stop: StopReason::End,
        usage: TokenUsage::default(),
        prompt_tokens: 0,
        model: "m".to_owned(),
    }))
}

fn call(id: &str, arguments: &str) -> TurnCall {
    TurnCall {
        id: id.to_owned(),
        name: "s__t".to_owned(),
        arguments: arguments.to_owned(),
        what: TurnCallKind::Call {
            server: "s".to_owned(),
            wanted: CallKind::Tool,
            target: "t".to_owned(),
            arguments: arguments.to_owned(),
        },
    }
}

fn mistake(id: &str) -> TurnCall {
    TurnCall {
        what: TurnCallKind::Mistake { message: "no such tool".to_owned() },
        ..call(id, "{}")
    }
}

fn call_end(slot: usize, outcome: OutcomeKind, consent: Consent) -> TurnInput {
    let end = CallEnd { consent, ..CallEnd::not_run(outcome, format!("result {slot}")) };
    TurnInput::Ended { slot, end: Box::new(end) }
}

fn compaction(upto: usize, summary: &str) -> TurnInput {
    TurnInput::Compacted { upto, summary: summary.to_owned(), handle: Some("h1".to_owned()) }
}

fn left_out(slot: usize, text: &str) -> TurnEffect {
    TurnEffect::LeaveOut { slot, outcome: OutcomeKind::Cancelled, text: text.to_owned() }
}

fn ok(slot: usize) -> TurnInput {
    call_end(slot, OutcomeKind::Ok, Consent::Person)
}

/// Applies the inputs in order; returns the last state and the effects of the last input.
fn after(limits: TurnLimits, inputs: Vec<TurnInput>) -> (TurnState, Vec<TurnEffect>) {
    let mut state = step(TurnState::default(), TurnInput::Began { limits }).0;
    let mut effects = Vec::new();
    for input in inputs {
        (state, effects) = step(state, input);
    }
    (state, effects)
}

fn results(state: &TurnState) -> Vec<(String, String)> {
    let Some(ChatMessage::Results { results }) =
        state.messages.iter().rev().find(|message| matches!(message, ChatMessage::Results { .. }))
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
    let (state, effects) = after(limits(), vec![user_message("hi")]);
    assert_eq!(effects, [TurnEffect::AskModel]);
    let (state, effects) = step(state, answer("hello", vec![]));
    assert_eq!(effects, [TurnEffect::End(TurnEnd::Done)]);
    assert!(state.is_idle());
    assert_eq!(state.messages.len(), 2);
}

#[test]
fn calls_run_one_after_the_other_and_their_results_go_back_in_order() {
    let two = vec![call("a", "{\"n\":1}"), call("b", "{\"n\":2}")];
    let (state, effects) = after(limits(), vec![user_message("go"), answer("", two)]);
    assert_eq!(effects, [TurnEffect::Run { slot: 0 }]);
    let (state, effects) = step(state, ok(0));
    assert_eq!(effects, [TurnEffect::Run { slot: 1 }]);
    let (state, effects) = step(state, ok(1));
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", "result 1")]);
}

#[test]
fn parallel_calls_start_together_and_report_in_the_order_in_which_they_were_asked_for() {
    let limits = TurnLimits { calls: ParallelCalls::Parallel, ..limits() };
    let two = vec![call("a", "{\"n\":1}"), call("b", "{\"n\":2}")];
    let (state, effects) = after(limits, vec![user_message("go"), answer("", two)]);
    assert_eq!(effects, [TurnEffect::Run { slot: 0 }, TurnEffect::Run { slot: 1 }]);
    let (state, effects) = step(state, ok(1));
    assert_eq!(effects, []);
    let (state, effects) = step(state, ok(0));
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", "result 1")]);
}

#[test]
fn where_one_call_is_allowed_the_others_are_told_to_wait() {
    let limits = TurnLimits { calls: ParallelCalls::One, ..limits() };
    let three = vec![mistake("x"), call("a", "{}"), call("b", "{}")];
    let (state, effects) = after(limits, vec![user_message("go"), answer("", three)]);
    assert_eq!(effects, [left_out(2, texts::ONE_AT_A_TIME), TurnEffect::Run { slot: 1 }]);
    let (state, _) = step(state, ok(1));
    assert_eq!(
        results(&state),
        [pair("x", "no such tool"), pair("a", "result 1"), pair("b", texts::ONE_AT_A_TIME)]
    );
}

#[test]
fn after_a_rejection_the_rest_of_the_message_is_left_out_and_the_model_goes_on() {
    let two = vec![call("a", "{}"), call("b", "{}")];
    let rejected = call_end(0, OutcomeKind::Rejected, Consent::Person);
    let (state, effects) = after(limits(), vec![user_message("go"), answer("", two), rejected]);
    assert_eq!(effects, [left_out(1, texts::AFTER_REJECTION), TurnEffect::AskModel]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", texts::AFTER_REJECTION)]);
}

#[test]
fn three_mistakes_in_a_row_ask_the_person_and_their_words_go_to_the_model() {
    let wrong = || answer("", vec![mistake("x")]);
    let (state, effects) = after(limits(), vec![user_message("go"), wrong(), wrong()]);
    assert_eq!(effects, [TurnEffect::AskModel]);
    let (state, effects) = step(state, wrong());
    assert_eq!(effects, [TurnEffect::AskPerson(Limit::Mistakes(3))]);
    let (state, effects) = step(state, user_message("use the other tool"));
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(
        state.messages.last(),
        Some(&ChatMessage::User { text: "use the other tool".to_owned(), images: Vec::new() })
    );
}

#[test]
fn a_good_call_ends_a_row_of_mistakes() {
    let wrong = || answer("", vec![mistake("x")]);
    let good = || answer("", vec![call("a", "{}")]);
    let inputs = vec![user_message("go"), wrong(), wrong(), good(), ok(0), wrong(), wrong()];
    assert_eq!(after(limits(), inputs).1, [TurnEffect::AskModel]);
}

#[test]
fn the_same_call_warns_the_third_time_and_asks_the_person_the_fifth() {
    let limits = TurnLimits { steps: 100, ..limits() };
    let again = || answer("", vec![call("a", "{\"x\":1}")]);
    let (mut state, _) = after(limits, vec![user_message("go")]);
    for time in 1..=4 {
        let (next, effects) = step(state, again());
        assert_eq!(effects, [TurnEffect::Run { slot: 0 }], "{time}");
        state = step(next, ok(0)).0;
        let told = results(&state).remove(0).1;
        assert_eq!(told.contains("same call"), time >= 3, "{time}: {told}");
    }
    let (state, effects) = step(state, again());
    let text = texts::repeat_limit_note(5);
    let not_run = TurnEffect::LeaveOut { slot: 0, outcome: OutcomeKind::Denied, text };
    assert_eq!(effects, [not_run, TurnEffect::AskPerson(Limit::Repeats(5))]);
    assert!(results(&state).remove(0).1.starts_with("Not run"));
    let (_, effects) = step(state, TurnInput::Decided { decision: LimitDecision::GoOn });
    assert_eq!(effects, [TurnEffect::AskModel]);
}

#[test]
fn after_so_many_calls_that_nobody_was_asked_about_the_person_is_asked() {
    let limits = TurnLimits { unasked: 2, ..limits() };
    let unasked = |slot| call_end(slot, OutcomeKind::Ok, Consent::Rule);
    let calls = || {
        let number = |n: u32| call("a", &format!("{{\"n\":{n}}}"));
        answer("", vec![number(1), number(2)])
    };
    let inputs = vec![user_message("go"), calls(), unasked(0), unasked(1)];
    let (state, effects) = after(limits.clone(), inputs);
    assert_eq!(effects, [TurnEffect::AskPerson(Limit::Unasked(2))]);
    let (state, effects) = step(state, TurnInput::Decided { decision: LimitDecision::Stop });
    assert_eq!(effects, [TurnEffect::End(TurnEnd::Stopped(Limit::Unasked(2)))]);
    assert!(state.is_idle());
    // An approval by a person resets the count.
    let inputs = vec![user_message("go"), calls(), unasked(0), ok(1)];
    assert_eq!(after(limits, inputs).1, [TurnEffect::AskModel]);
}

#[test]
fn the_number_of_steps_of_a_turn_has_a_limit() {
    let limits = TurnLimits { steps: 1, ..limits() };
    let inputs = vec![user_message("go"), answer("", vec![call("a", "{}")]), ok(0)];
    assert_eq!(after(limits, inputs).1, [TurnEffect::AskPerson(Limit::Steps(1))]);
}

#[test]
fn what_is_typed_while_a_tool_runs_follows_its_result() {
    let inputs = vec![
        user_message("go"),
        answer("", vec![call("a", "{}")]),
        user_message("and be quick"),
        ok(0),
    ];
    let (state, effects) = after(limits(), inputs);
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(
        state.messages.last(),
        Some(&ChatMessage::User { text: "and be quick".to_owned(), images: Vec::new() })
    );
    // A message sent while the model answers starts the next turn.
    let inputs = vec![user_message("go"), user_message("wait"), answer("done", vec![])];
    let (state, effects) = after(limits(), inputs);
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(state.messages.len(), 3);
}

#[test]
fn a_cancelled_answer_keeps_what_was_heard() {
    let heard = Interruption { heard: "Once upon".to_owned() };
    let (state, effects) = after(limits(), vec![user_message("tell"), TurnInput::Cancelled(heard)]);
    assert_eq!(effects, [TurnEffect::StopAll, TurnEffect::End(TurnEnd::Cancelled)]);
    let Some(ChatMessage::Assistant { text, .. }) = state.messages.last() else { panic!() };
    assert_eq!(text, &format!("Once upon{}", texts::INTERRUPTED));
}

#[test]
fn a_cancelled_call_is_waited_for_and_the_rest_does_not_begin() {
    let two = vec![call("a", "{}"), call("b", "{}")];
    let cancel = TurnInput::Cancelled(Interruption::default());
    let (state, effects) = after(limits(), vec![user_message("go"), answer("", two), cancel]);
    assert_eq!(effects, [TurnEffect::StopAll, left_out(1, texts::CANCELLED)]);
    let (state, effects) = step(state, call_end(0, OutcomeKind::Cancelled, Consent::Rule));
    assert_eq!(effects, [TurnEffect::End(TurnEnd::Cancelled)]);
    assert_eq!(results(&state), [pair("a", "result 0"), pair("b", texts::CANCELLED)]);
}

#[test]
fn a_model_that_failed_can_be_asked_once_more() {
    let failure = Failure { trouble: ModelErrorKind::Busy, message: "busy".to_owned(), hint: None };
    let (state, effects) =
        after(limits(), vec![user_message("go"), TurnInput::NoAnswer(failure.clone())]);
    assert_eq!(effects, [TurnEffect::End(TurnEnd::Failed(failure))]);
    assert_eq!(step(state, TurnInput::Retried).1, [TurnEffect::AskModel]);
}

#[test]
fn a_full_window_is_cut_before_the_model_is_asked_and_results_stay_with_their_calls() {
    let long = "word ".repeat(400);
    let limits = TurnLimits { window: 2 * estimate_tokens(&long), ..limits() };
    let inputs = vec![user_message(&long), answer(&long, vec![]), user_message("and now?")];
    let (state, effects) = after(limits.clone(), inputs);
    assert_eq!(effects, [TurnEffect::Compact { upto: 2 }]);
    let compacted = compaction(2, "They talked.");
    let (state, effects) = step(state, compacted);
    assert_eq!(effects, [TurnEffect::AskModel]);
    assert_eq!(
        state.messages,
        [
            ChatMessage::User {
                text: texts::summary("They talked.", Some("h1")),
                images: Vec::new()
            },
            ChatMessage::User { text: "and now?".to_owned(), images: Vec::new() },
        ]
    );
    let limits = TurnLimits { window: 28 * estimate_tokens(&long) / 10, ..limits };
    // Fills the remaining room exactly, including the overhead of a result.
    let room = limits.window / 10 * 3 - 12;
    let words = (1..).map(|count| "word ".repeat(count)).find(|text| estimate_tokens(text) >= room);
    let result = CallEnd::not_run(OutcomeKind::Ok, words.unwrap());
    let inputs = vec![
        user_message(&long),
        answer(&long, vec![]),
        user_message("call"),
        answer("", vec![call("a", "{}")]),
        TurnInput::Ended { slot: 0, end: Box::new(result) },
    ];
    let (state, effects) = after(limits, inputs);
    // The cut must not separate a call from its result.
    assert_eq!(effects, [TurnEffect::Compact { upto: 3 }]);
    assert!(matches!(state.messages.get(3), Some(ChatMessage::Assistant { .. })));
}

#[test]
fn a_vendor_that_finds_it_too_long_is_asked_once_more_with_less() {
    let too_long = || {
        TurnInput::NoAnswer(Failure {
            trouble: ModelErrorKind::TooLong,
            message: "too long".to_owned(),
            hint: None,
        })
    };
    let limits = TurnLimits { window: 20, ..limits() };
    // Summarizing a single message would not shorten it.
    let (state, effects) = after(limits.clone(), vec![user_message("a"), too_long()]);
    assert!(matches!(effects.as_slice(), [TurnEffect::End(TurnEnd::Failed(_))]), "{effects:?}");
    assert!(state.is_idle());
    let long = "word ".repeat(300);
    let inputs = vec![user_message(&long), answer(&long, vec![]), user_message("c"), too_long()];
    let (state, effects) = after(TurnLimits { window: 2_000, ..limits }, inputs);
    assert_eq!(effects, [TurnEffect::Compact { upto: 2 }]);
    let compacted = compaction(2, "s");
    let (state, _) = step(state, compacted);
    let (_, effects) = step(state, too_long());
    assert!(matches!(effects.as_slice(), [TurnEffect::End(TurnEnd::Failed(_))]), "{effects:?}");
}

#[test]
fn what_was_undone_does_not_count_and_numbers_go_on() {
    let inputs = [
        TurnInput::Began { limits: limits() },
        user_message("one"),
        answer("1", vec![]),
        user_message("two"),
        answer("2", vec![]),
        TurnInput::Undone { to: 3 },
        user_message("three"),
    ];
    let entries: Vec<TurnEntry> =
        (1..).zip(inputs).map(|(number, input)| TurnEntry { number, input }).collect();
    let state = replay(entries);
    assert_eq!(state.number, 7);
    let texts: Vec<&str> = state
        .messages
        .iter()
        .map(|message| match message {
            ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. } => text.as_str(),
            ChatMessage::Results { .. } => "",
        })
        .collect();
    assert_eq!(texts, ["one", "1", "three"]);
    assert_eq!(state.pending(), [TurnEffect::AskModel]);
}

#[test]
fn an_undo_goes_back_to_before_the_turn_whatever_was_said_in_the_middle_of_it() {
    let inputs = [
        TurnInput::Began { limits: limits() },
        user_message("one"),
        answer("1", vec![]),
        user_message("two"),
        answer("", vec![call("a", "{}")]),
        user_message("typed meanwhile"),
        ok(0),
        answer("2", vec![]),
    ];
    let entries: Vec<TurnEntry> =
        (1..).zip(inputs).map(|(number, input)| TurnEntry { number, input }).collect();
    assert_eq!(before_last_turn(&entries), Some(3));
    assert_eq!(before_last_turn(&entries[..1]), None);
}

#[test]
fn calls_of_one_message_beyond_what_may_run_unasked_wait_for_the_person() {
    let limits = TurnLimits { unasked: 2, ..limits() };
    let numbered = |n: u32| call("a", &format!("{{\"n\":{n}}}"));
    let three = answer("", vec![numbered(1), numbered(2), numbered(3)]);
    let unasked = |slot| call_end(slot, OutcomeKind::Ok, Consent::Rule);
    let (_, effects) = after(limits, vec![user_message("go"), three, unasked(0), unasked(1)]);
    assert_eq!(
        effects,
        [left_out(2, texts::TOO_MANY_UNASKED), TurnEffect::AskPerson(Limit::Unasked(2))]
    );
}

#[test]
fn every_input_reads_back_from_what_is_kept() {
    let inputs = [
        TurnInput::Began { limits: limits() },
        user_message("hi"),
        answer("x", vec![call("a", "{}"), mistake("b")]),
        ok(0),
        TurnInput::Decided { decision: LimitDecision::GoOn },
        TurnInput::Cancelled(Interruption { heard: "h".to_owned() }),
        compaction(2, "s"),
        TurnInput::Retried,
        TurnInput::Undone { to: 1 },
    ];
    for input in inputs {
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<TurnInput>(&text).unwrap(), input, "{text}");
    }
}

fn any_input() -> impl Strategy<Value = TurnInput> {
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
        3 => "[a-z ]{0,300}".prop_map(|text| user_message(&text)),
        5 => ("[a-z]{0,300}", prop::collection::vec(asked, 0..4))
            .prop_map(|(text, asked)| answer(&text, asked)),
        5 => (0..4_usize, outcome, consent)
            .prop_map(|(slot, outcome, consent)| call_end(slot, outcome, consent)),
        1 => Just(TurnInput::Cancelled(Interruption::default())),
        1 => Just(TurnInput::Decided { decision: LimitDecision::GoOn }),
        1 => Just(TurnInput::Decided { decision: LimitDecision::Stop }),
        1 => Just(TurnInput::Retried),
        1 => (0..6_usize).prop_map(|upto| compaction(upto, "s")),
    ]
}

proptest! {
    #[test]
    fn a_conversation_never_gets_stuck_and_replays_to_the_same_state(
        inputs in prop::collection::vec(any_input(), 0..60),
        several in prop_oneof![Just(ParallelCalls::One), Just(ParallelCalls::Each), Just(ParallelCalls::Parallel)],
    ) {
        let limits = TurnLimits { calls: several, window: 1_500, ..limits() };
        let mut state = TurnState::default();
        let mut entries = Vec::new();
        for (number, input) in (1..).zip([TurnInput::Began { limits }].into_iter().chain(inputs)) {
            entries.push(TurnEntry { number, input: input.clone() });
            state = step(state, input).0;
            prop_assert_eq!(state.is_idle(), state.pending().is_empty(), "{:?}", state.phase);
            // Each native call is followed by its result.
            for pair in state.messages.windows(2) {
                if let [ChatMessage::Assistant { calls, .. }, next] = pair
                    && !calls.is_empty()
                {
                    let ChatMessage::Results { results } = next else {
                        return Err(TestCaseError::fail(format!("{next:?}")));
                    };
                    prop_assert_eq!(calls.len(), results.len());
                }
            }
        }
        if let Some(to) = before_last_turn(&entries) {
            let mut undone = entries.clone();
            undone.push(TurnEntry { number: state.number + 1, input: TurnInput::Undone { to } });
            prop_assert!(replay(undone).is_idle());
        }
        let again = replay(entries);
        prop_assert_eq!(&again.messages, &state.messages);
        prop_assert_eq!(&again.phase, &state.phase);
    }
}

#[test]
fn a_result_of_somebody_whom_nobody_vouches_for_says_whose_it_is() {
    let mut end = CallEnd::not_run(OutcomeKind::Ok, "It is 21 degrees.");
    end.origin = Some("web/get".to_owned());
    let inputs = vec![
        user_message("hi"),
        answer("", vec![call("a", "{}")]),
        TurnInput::Ended { slot: 0, end: Box::new(end) },
    ];
    let (state, _) = after(limits(), inputs);
    let expected = pair("a", "[Data from `web/get`:]\n\nIt is 21 degrees.");
    assert_eq!(results(&state), [expected]);
}
