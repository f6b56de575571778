//! The body of an answer over HTTP: nothing of it is said twice.

use serde_json::{Map, Value};

use super::{
    Budget, Notice,
    envelope::{NAMED, NAMED_PART, as_many},
    fit::fit,
    notice::{MEMBER, words},
    size::{Scale, Size},
};

/// Makes a body fit, as its schema says. What was left out is said by its member `_clip`, in places
/// of what is kept: that is the part of the body at the pointer `kept`.
pub fn body(
    body: Map<String, Value>,
    schema: &Map<String, Value>,
    budget: Budget,
    notice: &Notice,
    kept: &str,
) -> Map<String, Value> {
    let room = budget.room();
    let named = room.bytes / NAMED_PART;
    let all = Size::of(usize::MAX, usize::MAX);
    let member = Scale::Once.name(MEMBER) + 1 + Scale::Once.value(&notice.member(&[]), all).bytes;
    let left = Size::of(room.bytes.saturating_sub(member + named), room.lines.saturating_sub(1));
    let (value, mut gaps) = fit(&Value::Object(body), schema, left, Scale::Once, NAMED);
    for gap in &mut gaps {
        if let Some(at) = gap.at.strip_prefix(kept) {
            gap.at = at.to_owned();
        }
    }
    let gaps: Vec<String> = gaps.iter().map(words).collect();
    let mut members = match value {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.insert(MEMBER.to_owned(), notice.member(&as_many(&gaps, named)));
    members
}

/// Whether a body is within a budget.
pub fn body_fits(body: &Map<String, Value>, budget: Budget) -> bool {
    let room = budget.room();
    let marks = Size::of(2 + body.len().saturating_sub(1), 0);
    let size = body.iter().fold(marks, |size, (name, value)| {
        let left = room.size().less(size);
        size.and(Size::of(Scale::Once.name(name), 0)).and(Scale::Once.value(value, left))
    });
    size.fits(room.size())
}
