//! The rules of a session, without a connection.

use std::{task::Waker, time::Duration};

use rmcp::model::{
    EmptyResult, ErrorData, NumberOrString, ProgressNotification, ProgressNotificationParam,
    ProgressToken, RequestId, ResourceUpdatedNotification, ResourceUpdatedNotificationParam,
    ServerJsonRpcMessage, ServerNotification, ServerResult, ToolListChangedNotification,
};
use tokio::time::Instant;

use super::{
    event_id,
    log::Next,
    state::{NotTaken, State},
};
use crate::face::Limits;

const RETRY: Duration = Duration::from_secs(3);

fn id(number: i64) -> RequestId {
    NumberOrString::Number(number)
}

fn token(name: &str) -> ProgressToken {
    ProgressToken(NumberOrString::String(name.into()))
}

fn answer(number: i64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id(number))
}

fn progress(name: &str, done: f64) -> ServerJsonRpcMessage {
    let params = ProgressNotificationParam::new(token(name), done);
    let notification = ProgressNotification::new(params);
    ServerJsonRpcMessage::notification(ServerNotification::ProgressNotification(notification))
}

fn changed() -> ServerJsonRpcMessage {
    let notification = ToolListChangedNotification::default();
    ServerJsonRpcMessage::notification(ServerNotification::ToolListChangedNotification(
        notification,
    ))
}

fn updated(uri: &str) -> ServerJsonRpcMessage {
    let params = ResourceUpdatedNotificationParam::new(uri);
    let notification = ResourceUpdatedNotification::new(params);
    ServerJsonRpcMessage::notification(ServerNotification::ResourceUpdatedNotification(
        notification,
    ))
}

/// What a reader is given until it has to wait or the stream ends, and whether it ended.
fn read(state: &mut State, stream: Option<u64>, reader: u64) -> (Vec<String>, bool) {
    let mut ids = Vec::new();
    loop {
        match state.poll(stream, reader, Waker::noop()) {
            Next::Event(event) => ids.push(event.event_id.unwrap()),
            Next::End => return (ids, true),
            Next::Wait => return (ids, false),
        }
    }
}

fn limits() -> Limits {
    Limits { calls: 2, streams: 2, ..Limits::default() }
}

#[test]
fn messages_go_to_the_stream_of_their_call_and_nowhere_when_it_is_over() {
    let mut state = State::new(Instant::now());
    let (one, first) = state.begin(&id(1), Some(token("a")), &limits(), RETRY).unwrap();
    let (two, second) = state.begin(&id(2), Some(token("b")), &limits(), RETRY).unwrap();
    assert_eq!(state.begin(&id(1), None, &limits(), RETRY), Err(NotTaken::SameId));
    assert_eq!(state.begin(&id(3), None, &limits(), RETRY), Err(NotTaken::Full));
    state.deliver(progress("b", 1.0));
    state.deliver(answer(1));
    assert_eq!(read(&mut state, Some(one), first), (vec![format!("0/{one}")], true));
    assert_eq!(read(&mut state, Some(two), second), (vec![format!("0/{two}")], false));
    state.leave(Some(one), first, Instant::now());
    // Neither late progress nor a second answer reaches anybody.
    state.deliver(progress("a", 2.0));
    state.deliver(answer(1));
    let listener = state.listen(&limits(), RETRY).unwrap();
    assert_eq!(read(&mut state, None, listener), (vec![], false));
    let error = ErrorData::internal_error("x", None);
    state.deliver(ServerJsonRpcMessage::error(error, Some(id(2))));
    assert_eq!(read(&mut state, Some(two), second), (vec![format!("1/{two}")], true));
    assert!(!state.is_busy());
}

#[test]
fn a_log_is_bounded_and_its_answer_is_never_what_is_dropped() {
    let mut state = State::new(Instant::now());
    let (stream, reader) = state.begin(&id(1), Some(token("a")), &limits(), RETRY).unwrap();
    for done in 0..10_000 {
        state.deliver(progress("a", f64::from(done)));
    }
    state.deliver(answer(1));
    let (ids, ended) = read(&mut state, Some(stream), reader);
    assert!(ended && ids.len() < 200, "{}", ids.len());
    assert_eq!(ids.last(), Some(&format!("10000/{stream}")));
}

#[test]
fn a_stream_is_resumed_after_the_event_that_the_client_saw() {
    let mut state = State::new(Instant::now());
    state.primes = true;
    let (stream, old) = state.begin(&id(1), Some(token("a")), &limits(), RETRY).unwrap();
    state.deliver(progress("a", 1.0));
    state.deliver(progress("a", 2.0));
    assert_eq!(read(&mut state, Some(stream), old).0.len(), 3);
    let (new, woken) = state.resume(Some(stream), 1).unwrap();
    assert_eq!(woken.len(), 1, "the old reader is sent away");
    assert_eq!(read(&mut state, Some(stream), old), (vec![], true));
    assert_eq!(read(&mut state, Some(stream), new), (vec![format!("2/{stream}")], false));
    // An event that never was is one that is still to come.
    let (newest, _) = state.resume(Some(stream), 900).unwrap();
    assert_eq!(read(&mut state, Some(stream), newest), (vec![], false));
    assert!(state.resume(Some(stream + 1), 0).is_none());
    assert!(state.leave(Some(stream), newest, Instant::now()).0, "a call is left behind");
}

#[test]
fn one_notice_that_nobody_read_says_as_much_as_many() {
    let mut state = State::new(Instant::now());
    for _ in 0..5 {
        state.deliver(changed());
    }
    let reader = state.listen(&limits(), RETRY).unwrap();
    assert_eq!(read(&mut state, None, reader), (vec!["0".to_owned()], false));
    state.deliver(changed());
    assert_eq!(read(&mut state, None, reader), (vec!["1".to_owned()], false));
}

#[test]
fn an_abandoned_call_is_stopped_when_its_time_is_up_and_not_before() {
    let (began, limits) = (Instant::now(), limits());
    let mut state = State::new(began);
    let (stream, reader) = state.begin(&id(1), None, &limits, RETRY).unwrap();
    assert_eq!(state.idle_until(&limits), None);
    assert_eq!(state.deadline(&limits), None);
    state.leave(Some(stream), reader, began);
    assert_eq!(state.deadline(&limits), Some(began + limits.resume));
    assert!(!state.sweep(began, &limits));
    assert!(state.is_busy());
    assert!(state.sweep(began + limits.resume, &limits));
    assert_eq!(state.next_cancel(), Some(id(1)));
    assert!(!state.is_busy());
    // Then it is idle, for as long as it may be after the client came back, or else shorter.
    assert_eq!(state.idle_until(&limits), Some(began + limits.init));
    state.touch(began);
    assert_eq!(state.idle_until(&limits), Some(began + limits.idle));
}

#[test]
fn an_answer_that_nobody_fetched_is_kept_for_a_while() {
    let (began, limits) = (Instant::now(), limits());
    let lost = || {
        let mut state = State::new(began);
        state.primes = true;
        let (stream, reader) = state.begin(&id(1), None, &limits, RETRY).unwrap();
        assert_eq!(read(&mut state, Some(stream), reader).0, [format!("0/{stream}")]);
        state.leave(Some(stream), reader, began);
        state.deliver(answer(1));
        assert!(!state.sweep(began + limits.resume, &limits), "it is no call any more");
        (state, stream)
    };
    let (mut state, stream) = lost();
    assert!(state.deadline(&limits) <= Some(began + limits.keep_answers));
    let (reader, _) = state.resume(Some(stream), 0).unwrap();
    assert_eq!(read(&mut state, Some(stream), reader), (vec![format!("1/{stream}")], true));
    let (mut state, stream) = lost();
    state.sweep(began + limits.keep_answers, &limits);
    assert!(state.resume(Some(stream), 0).is_none());
}

#[test]
fn event_ids_name_their_stream_and_nonsense_names_none() {
    assert_eq!(event_id("3/7"), Some((3, Some(7))));
    assert_eq!(event_id("3"), Some((3, None)));
    for nonsense in ["", "/", "x", "3/", "/7", "-1", "3/7/9", "99999999999999999999"] {
        assert_eq!(event_id(nonsense), None, "{nonsense}");
    }
}

#[test]
fn a_notice_that_waits_says_as_much_as_two() {
    let mut state = State::new(Instant::now());
    for message in [updated("a"), changed(), updated("b"), updated("a"), changed(), updated("b")] {
        state.deliver(message);
    }
    let reader = state.listen(&limits(), RETRY).unwrap();
    assert_eq!(read(&mut state, None, reader).0.len(), 3);
    // One that was read is no news of what came since.
    state.deliver(updated("a"));
    assert_eq!(read(&mut state, None, reader).0.len(), 1);
}
