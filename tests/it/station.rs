//! Asking a station for a seat, whatever it answers.

use std::time::Duration;

use adjutant::{
    config,
    outbound::{
        CONNECT, Outbound, PUSH,
        station::{About, Order, Patience, Probe, Resume, Seat, Spin, Station as Client},
    },
};
use serde_json::json;

use crate::harness::{
    PATIENCE,
    station::{Play, Station},
};

const TOKEN: &str = "canary-0123456789";

fn order() -> Order<'static> {
    Order {
        id: 7,
        seat: "claude",
        ssh: "ann@alpha",
        dir: "/srv/app",
        user: "ann",
        brief: "go on",
        locus: "alpha",
        resume: Some(Resume { session: "5e55", fork: true }),
        name: "my-seat",
    }
}

fn client_of(url: Option<&str>) -> Client {
    let settings = config::Station {
        spawn_url: url.map(|url| url.parse().unwrap()),
        spawn_token: Some(TOKEN.into()),
    };
    Client::new(Outbound::new(&config::Outbound::default()), &settings)
        .patience(Patience { probe: PATIENCE, spin: PATIENCE })
}

fn client(station: &Station) -> Client {
    client_of(Some(&station.spawn_url()))
}

#[tokio::test]
async fn a_seat_is_asked_for_once_with_all_that_was_said() {
    let station = Station::start().await;
    let seat = Seat {
        handle: "alpha:my-seat".to_owned(),
        session: "my-seat".to_owned(),
        station: "alpha".to_owned(),
        ..Seat::default()
    };
    assert_eq!(client(&station).spin(&order()).await, Spin::Verified(seat));
    let seen = station.seen();
    let lines: Vec<String> =
        seen.iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    assert_eq!(lines, ["GET /spawn", "POST /spawn"]);
    for seen in &seen {
        assert_eq!(seen.headers["x-console-token"], TOKEN);
        assert!(!seen.headers.contains_key("authorization"));
    }
    let wanted = json!({
        "id": 7, "seat": "claude", "ssh": "ann@alpha", "dir": "/srv/app", "user": "ann",
        "brief": "go on", "locus": "alpha", "handoff": "h7", "resume": "5e55", "fork": true,
        "name": "my-seat",
    });
    assert_eq!(seen[1].body, wanted);
}

#[tokio::test]
async fn a_fresh_seat_needs_no_question_first() {
    let station = Station::start().await;
    station.on_probe(Play::Reply(405, String::new()));
    let fresh = Order { resume: None, ..order() };
    assert!(matches!(client(&station).spin(&fresh).await, Spin::Verified(_)));
    assert_eq!(station.seen().len(), 1);
}

#[tokio::test]
async fn every_answer_to_an_order_becomes_its_outcome() {
    let station = Station::start().await;
    let client = client(&station);
    let refused = |status, error: &str| Spin::Refused { status, error: error.to_owned() };
    for (play, wanted) in [
        (
            Play::json(409, &json!({"error": "the name is taken"})),
            refused(409, "the name is taken"),
        ),
        (Play::json(500, &json!({"error": "no tmux"})), refused(500, "no tmux")),
        (Play::Reply(405, String::new()), Spin::TooOld),
        (
            Play::json(403, &json!({ "error": format!("{TOKEN} is wrong") })),
            refused(403, "[redacted] is wrong"),
        ),
    ] {
        station.on_spin(play.clone());
        assert_eq!(client.spin(&order()).await, wanted, "{play:?}");
    }
    station.on_spin(Play::unverified());
    let Spin::Unverified(seat) = client.spin(&order()).await else { panic!("verified") };
    assert_eq!((seat.handle.as_str(), seat.session.as_str()), ("alpha:sess", "sess"));
}

/// Whatever leaves it open whether there is a seat is told as such, and not tried again.
#[tokio::test]
async fn what_nobody_can_know_is_ambiguous_and_is_asked_once() {
    let station = Station::start().await;
    let other = Station::start().await;
    let short = Patience { spin: Duration::from_millis(300), probe: PATIENCE };
    let (client, hasty) = (client(&station), client(&station).patience(short));
    for (play, client, wanted) in [
        (Play::Hang, &hasty, "no answer from"),
        (Play::Stall, &hasty, "http://127.0.0.1"),
        (Play::Close, &client, "ended before an answer"),
        (Play::Cut, &client, "broke off"),
        (Play::Reply(500, String::new()), &client, "500"),
        (Play::Reply(502, "<html>".to_owned()), &client, "502"),
        (Play::Reply(200, "<html>".to_owned()), &client, "names no seat"),
        (Play::Reply(200, "{\"handle\":".to_owned()), &client, "names no seat"),
        (Play::Reply(200, "x".repeat(2 * 1024 * 1024)), &client, "longer than 1 MiB"),
        (Play::Redirect(other.spawn_url()), &client, "station.spawn_url"),
    ] {
        station.on_spin(play.clone());
        let before = station.orders().len();
        match client.spin(&order()).await {
            Spin::Ambiguous { why } => assert!(why.contains(wanted), "{play:?}: {why}"),
            outcome => panic!("{play:?}: {outcome:?}"),
        }
        assert!(station.orders().len() <= before + 1, "{play:?} was asked again");
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_station_that_cannot_resume_is_not_asked_to() {
    let station = Station::start().await;
    let other = Station::start().await;
    let client = client(&station);
    for (play, wanted) in [
        (Play::Reply(405, String::new()), "TooOld"),
        (Play::json(200, &json!({"ok": true, "features": ["spawn"]})), "TooOld"),
        (Play::json(200, &json!({"ok": true})), "TooOld"),
        (Play::json(200, &json!({"ok": false, "error": "no tmux"})), "Refused"),
        (Play::json(401, &json!({})), "Refused"),
        (Play::Reply(200, "<html>".to_owned()), "NotAsked"),
        (Play::Redirect(other.spawn_url()), "Refused"),
        (Play::Close, "NotAsked"),
        (Play::Cut, "NotAsked"),
    ] {
        station.on_probe(play.clone());
        let outcome = format!("{:?}", client.spin(&order()).await);
        assert!(outcome.starts_with(wanted), "{play:?}: {outcome}");
    }
    station.on_probe(Play::Hang);
    let hasty = client.patience(Patience { probe: Duration::from_millis(100), spin: PATIENCE });
    assert!(matches!(hasty.spin(&order()).await, Spin::NotAsked { .. }));
    assert!(station.orders().is_empty() && other.seen().is_empty());
}

#[tokio::test]
async fn without_a_station_nothing_is_asked_for_and_a_dead_one_is_told_from_a_slow_one() {
    let none = client_of(None);
    assert_eq!(none.probe().await, Probe::NotConfigured);
    assert_eq!(none.spin(&order()).await, Spin::NotConfigured);
    assert_eq!(none.url(), None);
    let station = Station::start().await;
    let dead = client(&station);
    drop(station);
    let fresh = Order { resume: None, ..order() };
    for order in [order(), fresh] {
        let Spin::NotAsked { why } = dead.spin(&order).await else { panic!("it was asked") };
        assert!(why.contains("no connection to"), "{why}");
    }
}

#[tokio::test]
async fn the_question_tells_what_a_station_is() {
    let station = Station::start().await;
    let about = About { features: vec!["resume".to_owned()], station: "alpha".to_owned() };
    assert_eq!(client(&station).probe().await, Probe::Ready(about));
    let shown = client_of(Some("https://user:s3cret@alpha.example/spawn?key=s3cret#x")).url();
    assert_eq!(shown.as_deref(), Some("https://alpha.example/spawn"));
}

#[test]
fn s20_the_time_to_connect_is_less_than_half_of_every_time_around_it() {
    let Patience { probe, spin } = Patience::default();
    for around in [probe, spin, PUSH] {
        assert!(around >= 2 * CONNECT, "{around:?}");
    }
    let seconds = [probe, spin, PUSH].map(|time| time.as_secs());
    assert_eq!(seconds, [8, 30, 5], "what stations are used to");
}
