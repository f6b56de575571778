//! Any bytes, cut anywhere, give the same events; nothing panics or hangs; no event is larger than
//! the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routing::upstream::sse::{Event, Parser, TooLarge};

const LIMIT: usize = 256;

fn events<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limit: usize,
) -> Result<Vec<Event>, TooLarge> {
    let mut parser = Parser::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece)?;
        events.extend(std::iter::from_fn(|| parser.next_event()));
    }
    parser.finish();
    events.extend(std::iter::from_fn(|| parser.next_event()));
    Ok(events)
}

// The first byte says how the rest is cut.
fuzz_target!(|input: &[u8]| {
    let Some((size, stream)) = input.split_first() else { return };
    let size = usize::from(*size).max(1);
    let whole = events([stream], LIMIT);
    assert_eq!(events(stream.chunks(size), LIMIT), whole);
    assert_eq!(events(stream.chunks(1), LIMIT), whole);
    for event in whole.into_iter().flatten() {
        assert!(event.name.len() + event.data.len() <= LIMIT);
    }
});
