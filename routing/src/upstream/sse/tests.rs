use proptest::prelude::*;

use super::*;

/// The events of a stream that comes in these pieces.
fn events(pieces: &[&[u8]]) -> Vec<Event> {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece).unwrap();
        events.extend(std::iter::from_fn(|| parser.next_event()));
    }
    parser.finish();
    events.extend(std::iter::from_fn(|| parser.next_event()));
    events
}

fn data(stream: &str) -> Vec<String> {
    let events = events(&[stream.as_bytes()]);
    events.into_iter().map(|event| String::from_utf8(event.data).unwrap()).collect()
}

#[test]
fn d15_every_shape_of_a_line_is_read() {
    let cases: &[(&str, &[&str])] = &[
        ("data: a\n\ndata: b\n\n", &["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\r\rdata: b\r\r", &["a", "b"]),
        ("data: a\r\n\ndata: b\n\r", &["a", "b"]),
        ("data:a\n\n", &["a"]),
        ("data:  a \n\n", &[" a "]),
        ("data: a\ndata:\ndata: b\n\n", &["a\n\nb"]),
        ("data\n\n", &[""]),
        (": comment\n\n:\n\ndata: a\n\n", &["a"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("data: a\n\n\u{feff}data: b\n\n", &["a"]),
        ("id: 7\nretry: 10\nother: x\ndata: a\n\n", &["a"]),
        ("data: a", &["a"]),
        ("data: a\n", &["a"]),
        ("data: a\r", &["a"]),
        ("event: ping\n\n", &[]),
        ("\n\n\n", &[]),
        ("", &[]),
        ("data: x: y\n\n", &["x: y"]),
    ];
    for (stream, expected) in cases {
        assert_eq!(data(stream), *expected, "{stream:?}");
    }
}

#[test]
fn names_are_kept_and_an_error_line_is_an_event_of_that_name() {
    let got = events(&[b"event: error\ndata: {}\n\nerror: {\"code\":500}\n\ndata: a\n\n"]);
    let names: Vec<&[u8]> = got.iter().map(|event| event.name.as_slice()).collect();
    assert_eq!(names, [b"error".as_slice(), b"error", b""]);
    assert_eq!(got[1].data, b"{\"code\":500}");
}

#[test]
fn an_event_beyond_the_limit_is_refused_and_earlier_ones_stay() {
    for stream in [&b"data: ok\n\ndata: 0123456789\n\n"[..], b"data: ok\n\ndata: 0123456789"] {
        let mut parser = Parser::new(12);
        assert_eq!(parser.push(stream), Err(TooLarge { limit: 12 }));
        assert_eq!(parser.next_event().unwrap().data, b"ok");
    }
    let mut parser = Parser::new(12);
    let mut outcome = Ok(());
    for _ in 0..8 {
        outcome = outcome.and_then(|()| parser.push(b"data:x\n"));
    }
    assert_eq!(outcome, Err(TooLarge { limit: 12 }), "many small lines of one event");
}

#[test]
fn comments_without_end_cost_nothing() {
    let mut parser = Parser::new(64);
    for _ in 0..1000 {
        parser.push(b": keep-alive\n\n").unwrap();
    }
    assert_eq!(parser.next_event(), None);
}

#[test]
fn a_large_event_byte_by_byte_is_read_once() {
    let stream = format!("data: {}\n\n", "x".repeat(1_000_000));
    let mut parser = Parser::default();
    for byte in stream.as_bytes().chunks(1) {
        parser.push(byte).unwrap();
    }
    assert_eq!(parser.next_event().unwrap().data.len(), 1_000_000);
}

/// Lines that mean something, and some that do not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        "data:( )?[a-zé日🙂 :]{0,12}",
        ":[a-z ]{0,6}",
        Just(String::new()),
        "event: [a-z]{0,5}",
        "[a-zé:]{0,8}",
        Just("\u{feff}data: bom".to_owned()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n")];
    proptest::collection::vec((line, end), 0..20)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect::<String>())
        .prop_map(String::into_bytes)
}

proptest! {
    #[test]
    fn d14_d15_any_split_gives_the_same_events(
        stream in stream(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for to in cuts.into_iter().chain([stream.len()]) {
            pieces.push(&stream[from..to]);
            from = to;
        }
        let whole = events(&[&stream]);
        prop_assert_eq!(&events(&pieces), &whole);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&events(&bytes), &whole);
    }

    #[test]
    fn d15_any_bytes_are_survived(stream in proptest::collection::vec(any::<u8>(), 0..400)) {
        let whole = events(&[&stream]);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(events(&bytes), whole);
    }
}
