use serde_json::json;

use super::*;

fn seat(handle: &str) -> Seat {
    Seat { handle: handle.to_owned(), ..Seat::default() }
}

/// Only the kind of an outcome, for tables.
fn kind(outcome: &Spin) -> &'static str {
    match outcome {
        Spin::NotConfigured => "not configured",
        Spin::Verified(_) => "verified",
        Spin::Unverified(_) => "unverified",
        Spin::Refused { .. } => "refused",
        Spin::Ambiguous { .. } => "ambiguous",
        Spin::NotAsked { .. } => "not asked",
        Spin::TooOld => "too old",
    }
}

#[test]
fn every_answer_to_an_order_has_one_meaning() {
    for (status, body, wanted) in [
        (200, r#"{"handle":"s:1","verified":true}"#, "verified"),
        (201, r#"{"url":"http://s/1","verified":true}"#, "verified"),
        (202, r#"{"handle":"s:1","verified":true,"ok":true,"error":""}"#, "verified"),
        (200, r#"{"handle":"s:1"}"#, "unverified"),
        (200, r#"{"handle":"s:1","verified":false}"#, "unverified"),
        (200, r#"{"handle":"s:1","verified":"true"}"#, "unverified"),
        (200, r#"{"handle":"s:1","verified":1}"#, "unverified"),
        (200, r#"{"handle":"s:1","verified":true,"ok":false}"#, "unverified"),
        (200, r#"{"error":"no tmux"}"#, "refused"),
        (200, r#"{"ok":false}"#, "refused"),
        // It may have made one and not said so.
        (200, r#"{"verified":true}"#, "ambiguous"),
        (200, r#"{"handle":"","url":" "}"#, "ambiguous"),
        (200, r#"{"handle":null,"error":null}"#, "ambiguous"),
        (200, r#"{"handle":["s:1"]}"#, "ambiguous"),
        (200, r#""s:1""#, "ambiguous"),
        (200, "[]", "ambiguous"),
        (200, "{\"handle\":\"s:1\"", "ambiguous"),
        (200, "<html>welcome</html>", "ambiguous"),
        (200, "", "ambiguous"),
        (204, "", "ambiguous"),
        // A redirect is not followed.
        (301, "", "ambiguous"),
        (303, r#"{"handle":"s:1","verified":true}"#, "ambiguous"),
        (307, "", "ambiguous"),
        // It said no.
        (400, r#"{"error":"bad name"}"#, "refused"),
        (401, "", "refused"),
        (403, "<html>", "refused"),
        (404, "", "refused"),
        (405, "", "too old"),
        (408, "", "refused"),
        (409, r#"{"error":"the name is taken"}"#, "refused"),
        (429, "", "refused"),
        (500, r#"{"error":"no tmux"}"#, "refused"),
        (503, r#"{"detail":"starting"}"#, "refused"),
        // It failed on the way.
        (500, "", "ambiguous"),
        (500, "<h1>Internal Server Error</h1>", "ambiguous"),
        (500, r#"{"error":""}"#, "ambiguous"),
        (503, "", "ambiguous"),
        // What is in front of it failed.
        (502, r#"{"error":"bad gateway"}"#, "ambiguous"),
        (504, r#"{"error":"the upstream timed out"}"#, "ambiguous"),
        (100, "", "ambiguous"),
        (999, "", "ambiguous"),
    ] {
        let outcome = spun(status, body);
        assert_eq!(kind(&outcome), wanted, "{status} {body}: {outcome:?}");
    }
}

#[test]
fn a_seat_is_told_whole_and_bounded() {
    let body = json!({
        "handle": " alpha:my-seat ", "url": "http://alpha/s/1", "session": "my-seat",
        "session_id": "5e55", "resumed": "0ld", "station": "alpha 1.0.146", "verified": true,
    });
    let wanted = Seat {
        handle: "alpha:my-seat".to_owned(),
        url: "http://alpha/s/1".to_owned(),
        session: "my-seat".to_owned(),
        session_id: "5e55".to_owned(),
        resumed: "0ld".to_owned(),
        station: "alpha 1.0.146".to_owned(),
    };
    assert_eq!(spun(200, &body.to_string()), Spin::Verified(wanted));
    let url = "http://alpha/s/1".to_owned();
    let wanted = Seat { url: url.clone(), ..seat(&url) };
    assert_eq!(spun(200, &json!({ "url": url }).to_string()), Spin::Unverified(wanted));
    assert_eq!(spun(200, r#"{"handle":17}"#), Spin::Unverified(seat("17")));
}

#[test]
fn s24_long_texts_are_cut_between_characters_and_lose_their_controls() {
    let body = json!({
        "handle": "é\u{0}\u{1b}".repeat(500), "station": "👩‍🔧".repeat(200), "verified": true,
    });
    let Spin::Verified(seat) = spun(200, &body.to_string()) else { panic!("no seat") };
    assert_eq!(seat.handle, "é".repeat(400));
    assert_eq!(seat.station.chars().count(), 120);
    let body = json!({ "error": "é\u{1b}[31m\n".repeat(500) });
    let Spin::Refused { error, .. } = spun(409, &body.to_string()) else { panic!("no refusal") };
    assert_eq!(error.chars().count(), 300);
    assert!(!error.contains(['\u{1b}', '\n']), "{error:?}");
}

#[test]
fn a_refusal_gives_the_reason_or_the_remedy() {
    for (status, body, wanted) in [
        (409, r#"{"error":"the name is taken"}"#, "the name is taken"),
        (400, r#"{"error":{"message":"no such directory"}}"#, "no such directory"),
        (422, r#"{"detail":"no such user"}"#, "no such user"),
        (401, "", "station.spawn_token"),
        (404, "<html>", "station.spawn_url"),
        (418, "", "no reason"),
    ] {
        let Spin::Refused { status: told, error } = spun(status, body) else {
            panic!("{status} {body} is no refusal")
        };
        assert!(told == status && error.contains(wanted), "{status} {body}: {error}");
    }
}

#[test]
fn every_answer_to_the_question_has_one_meaning() {
    let about = |features: &[&str], station: &str| {
        let features = features.iter().map(|&feature| feature.to_owned()).collect();
        Probe::Ready(About { features, station: station.to_owned() })
    };
    for (status, body, wanted) in [
        (
            200,
            r#"{"ok":true,"features":["resume","x"],"station":"a"}"#,
            about(&["resume", "x"], "a"),
        ),
        (200, r#"{"features":["resume"]}"#, about(&["resume"], "")),
        (200, r#"{"ok":true,"features":[null,"",{"a":1},"x"]}"#, about(&["x"], "")),
        (200, r#"{"ok":true,"features":"resume"}"#, about(&[], "")),
        (200, "{}", about(&[], "")),
        (405, "", Probe::TooOld),
        (
            200,
            r#"{"ok":false,"error":"no tmux"}"#,
            Probe::Refused { status: 200, error: "no tmux".to_owned() },
        ),
        (500, r#"{"error":"broken"}"#, Probe::Refused { status: 500, error: "broken".to_owned() }),
    ] {
        assert_eq!(probed(status, body), wanted, "{status} {body}");
    }
    for (status, words) in [(302, "redirects"), (403, "spawn_token"), (404, "spawn_url")] {
        let Probe::Refused { error, .. } = probed(status, "") else { panic!("{status}") };
        assert!(error.contains(words), "{status}: {error}");
    }
    for body in ["", "[]", "null", "<html>", "{"] {
        assert!(matches!(probed(200, body), Probe::Failed { .. }), "{body}");
    }
}

#[test]
fn only_a_station_that_can_resume_is_asked_to() {
    let ready = |features: &[&str]| {
        let features = features.iter().map(|&feature| feature.to_owned()).collect();
        Probe::Ready(About { features, station: String::new() })
    };
    assert_eq!(ready(&["x", "resume"]).bars_resuming(), None);
    assert_eq!(ready(&["resumed"]).bars_resuming(), Some(Spin::TooOld));
    assert_eq!(Probe::TooOld.bars_resuming(), Some(Spin::TooOld));
    assert_eq!(Probe::NotConfigured.bars_resuming(), Some(Spin::NotConfigured));
    let why = "no connection".to_owned();
    let failed = Probe::Failed { why: why.clone() };
    assert_eq!(failed.bars_resuming(), Some(Spin::NotAsked { why }));
    let refused = Probe::Refused { status: 401, error: "no".to_owned() };
    let wanted = Spin::Refused { status: 401, error: "no".to_owned() };
    assert_eq!(refused.bars_resuming(), Some(wanted));
}
