//! Tests of the steps of one call.

use super::*;

fn progress(count: u64) -> Timeline {
    let mut timeline = Timeline::default();
    for number in 1..=count {
        timeline.add_progress(number.into(), Some(count.into()), None);
    }
    timeline
}

fn numbers(timeline: &Timeline) -> Vec<u64> {
    let number = |step: &&TimelineStep| match &step.what {
        Happened::Progress { number, .. } => Some(*number),
        _ => None,
    };
    timeline.steps().iter().filter_map(number).collect()
}

#[test]
fn the_first_the_last_and_at_most_twenty_in_between_are_kept() {
    for count in 0..=2_000 {
        let timeline = progress(count);
        let kept = numbers(&timeline);
        assert_eq!(timeline.progress_reports(), count);
        assert!(kept.len() <= MAX_SAMPLED + 2, "{count}: {kept:?}");
        assert!(kept.is_sorted(), "{count}: {kept:?}");
        if count > 0 {
            assert_eq!((kept[0], kept[kept.len() - 1]), (1, count), "{kept:?}");
        }
        if count <= 21 {
            assert_eq!(kept, (1..=count).collect::<Vec<_>>());
        }
    }
    let kept = numbers(&progress(1_000));
    let every = kept[1] - kept[0];
    assert!(kept.len() > 10, "{kept:?}");
    let (_, but_the_last) = kept.split_last().unwrap();
    assert!(but_the_last.windows(2).all(|pair| pair[1] - pair[0] == every), "{kept:?}");
}

#[test]
fn what_is_written_down_is_read_back_and_goes_on() {
    let mut timeline = progress(100);
    timeline.add_log_message("info", "half way");
    timeline.add(TimelineStep::now(Happened::Decided {
        verdict: "allow".to_owned(),
        by: "a rule".to_owned(),
    }));
    let text = timeline.to_text();
    let mut read = Timeline::from_text(&text).unwrap();
    // Times are stored in microseconds.
    assert_eq!(read.to_text(), text);
    assert_eq!(numbers(&read), numbers(&timeline));
    read.add_progress(101.into(), None, None);
    assert_eq!(numbers(&read).last(), Some(&101));
    assert_eq!(Timeline::from_text("{\"single\":7}"), None);
}

#[test]
fn secrets_are_taken_out_and_long_texts_are_cut() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut timeline = Timeline::default();
    timeline.add_progress(1.into(), None, Some(format!("with {token}")));
    timeline.add_log_message("info", &format!("{token}{}", "x".repeat(9_000)));
    timeline.add_task("working", Some(&token));
    let step = |what| TimelineStep::now(what);
    let text = || Some(token.clone());
    timeline.add(step(Happened::Hook {
        hook: format!("./hook.sh {token}"),
        level: "user".to_owned(),
        when: "beforeMCPExecution".to_owned(),
        answer: "error".to_owned(),
        problem: text(),
        message: text(),
    }));
    timeline.add(step(Happened::Asked {
        method: "elicitation/create".to_owned(),
        message: text(),
        answer: text(),
    }));
    timeline.add(step(Happened::Decided { verdict: "deny".to_owned(), by: token.clone() }));
    let kept = timeline.into_redacted().to_text();
    assert!(!kept.contains("a1B2"), "{kept}");
    assert_eq!(kept.matches("[redacted]").count(), 9, "{kept}");
    assert!(kept.len() < 4_000, "{}", kept.len());
}

#[test]
fn steps_come_in_the_order_of_their_times() {
    let mut timeline = Timeline::default();
    timeline.add_log_message("info", "first");
    timeline.add_progress(1.into(), None, None);
    timeline.add_log_message("info", "third");
    let earlier = Duration::from_secs(60);
    let decided = Happened::Decided { verdict: "allow".to_owned(), by: String::new() };
    timeline.add(TimelineStep::ended_now(earlier, decided.clone()));
    let steps = timeline.steps();
    assert_eq!((&steps[0].what, steps[0].took()), (&decided, Some(earlier)));
    assert!(matches!(steps[2].what, Happened::Progress { .. }));
    let opened = steps[0].at;
    let shown = timeline.step_views(opened);
    assert!((shown[0].after_milliseconds, shown[0].milliseconds) == (0.0, Some(60_000.0)));
    assert!(shown[1].after_milliseconds > 59_000.0);
}
