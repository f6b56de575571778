//! Making a value fit, without leaving the schema that holds for it.
//!
//! What is too large gives way where the schema lets it: long texts are cut, lists keep their
//! beginning and end, members that need not be there go. Room is shared out so that what is small
//! stays whole. Whatever remains is of the same types and in the same places as before.

use serde_json::{Map, Value};

use super::{
    rules::Rules,
    size::{Scale, Size},
    text,
};

/// Items that are all shown in part rather than some of them whole.
const FEW: usize = 16;

/// What an item of a long list is given at the least, in bytes, for it to say anything.
const LEAST: usize = 96;

/// Places that are noted while a value is made to fit.
const NOTED: usize = 256;

/// What was left out of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// Where, as a JSON pointer.
    pub(super) at: String,
    pub(super) what: What,
}

/// What was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Of a text: from this byte to that, of so many.
    Bytes { start: usize, end: usize, of: usize },
    /// Of a list: from this item to the one before that, of so many.
    Items { start: usize, end: usize, of: usize },
    /// Of an object: so many members, of so many.
    Members { count: usize, of: usize },
}

/// Makes a value fit; it may still be larger where its schema leaves no more free. What was left
/// out is said of the first `most` places.
pub(super) fn fit(
    value: &Value,
    schema: &Map<String, Value>,
    room: Size,
    scale: Scale,
    most: usize,
) -> (Value, Vec<Gap>) {
    let mut fit = Fit { scale, path: Vec::new(), gaps: Vec::new() };
    let value = fit.value(value, &Rules::of(value, schema), room);
    fit.gaps.truncate(most);
    (value, fit.gaps)
}

/// How room is shared: each gets what it needs or an even part of what is left.
pub(super) fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    let need = |at: usize| needs.get(at).copied().unwrap_or_default();
    order.sort_by_key(|at| need(*at));
    let (mut left, mut shares) = (room, vec![0; needs.len()]);
    for (nth, at) in order.into_iter().enumerate() {
        let share = need(at).min(left / (needs.len() - nth));
        left -= share;
        if let Some(place) = shares.get_mut(at) {
            *place = share;
        }
    }
    shares
}

fn sizes(needs: &[Size], room: Size) -> Vec<Size> {
    let of =
        |part: fn(&Size) -> usize, room| shares(&needs.iter().map(part).collect::<Vec<_>>(), room);
    let bytes = of(|size| size.bytes, room.bytes);
    let breaks = of(|size| size.breaks, room.breaks);
    bytes.into_iter().zip(breaks).map(|(bytes, breaks)| Size::of(bytes, breaks)).collect()
}

struct Fit {
    scale: Scale,
    /// Where the value at hand is.
    path: Vec<String>,
    gaps: Vec<Gap>,
}

/// A value in the making, with its place among the others and what it costs.
struct Kept<'v> {
    name: &'v str,
    value: Value,
    cost: Size,
    may_go: bool,
}

impl Fit {
    fn size(&self, value: &Value, room: Size) -> Size {
        self.scale.value(value, room)
    }

    fn value(&mut self, value: &Value, rules: &Rules<'_>, room: Size) -> Value {
        if rules.is_fixed() || self.size(value, room).fits(room) {
            return value.clone();
        }
        match value {
            Value::String(text) => self.text(text, rules, room),
            Value::Array(items) => self.list(items, rules, room),
            Value::Object(members) => self.object(members, rules, room),
            _ if rules.may_be_null() => Value::Null,
            scalar => scalar.clone(),
        }
    }

    /// Says of the value at hand what is left out of it. The place is kept for it, so that what
    /// stands above is said before what stands within.
    fn gap(&mut self, what: What) {
        if self.gaps.len() < NOTED {
            let at = self.path.concat();
            self.gaps.push(Gap { at, what });
        }
    }

    /// The same for what is at a place of the value at hand.
    fn within(
        &mut self,
        name: &str,
        value: &Value,
        rules: &Rules<'_>,
        room: Size,
    ) -> (Value, Size) {
        self.path.push(format!("/{}", name.replace('~', "~0").replace('/', "~1")));
        let value = self.value(value, rules, room);
        self.path.pop();
        let cost = self.size(&value, Size::of(usize::MAX, usize::MAX));
        (value, cost)
    }

    fn text(&mut self, text: &str, rules: &Rules<'_>, room: Size) -> Value {
        let Some((least, most)) = rules.text() else {
            return Value::String(text.to_owned());
        };
        let quotes = Size::of(self.scale.marks(2, 0), 0);
        let cut = text::cut(text, room.less(quotes), self.scale);
        let characters = cut.text.chars().count();
        if characters < least || characters > most {
            return Value::String(text.to_owned());
        }
        let (start, end, of) = (cut.left_out.start, cut.left_out.end, text.len());
        self.gap(What::Bytes { start, end, of });
        Value::String(cut.text)
    }

    fn list(&mut self, items: &[Value], rules: &Rules<'_>, room: Size) -> Value {
        let marks = Size::of(self.scale.marks(0, 2), 0);
        let inner = room.less(marks);
        let comma = self.scale.marks(0, 1);
        let least = rules.items();
        if items.len() <= FEW || least.is_none() {
            let before = self.gaps.len();
            let commas = Size::of(comma * items.len().saturating_sub(1), 0);
            let (kept, cost) = self.spread(items, rules, inner.less(commas));
            if cost.and(commas).fits(inner) || least.is_none() {
                return Value::Array(kept);
            }
            self.gaps.truncate(before);
        }
        self.ends(items, rules, inner, least.unwrap_or_default())
    }

    /// Every item, each with its share.
    fn spread(&mut self, items: &[Value], rules: &Rules<'_>, room: Size) -> (Vec<Value>, Size) {
        let needs: Vec<Size> = items.iter().map(|item| self.need(item, room)).collect();
        let mut cost = Size::default();
        let kept = items.iter().zip(sizes(&needs, room)).enumerate().map(|(at, (item, share))| {
            let (value, own) = self.within(&at.to_string(), item, &rules.item(at, item), share);
            cost = cost.and(own);
            value
        });
        let kept = kept.collect();
        (kept, cost)
    }

    /// What a value wants of so much room.
    fn need(&self, value: &Value, room: Size) -> Size {
        self.size(value, room).least(room.and(Size::of(1, 1)))
    }

    /// The items at the beginning, in three quarters of the room, and those at the end. A long one
    /// is shown in part, so that more than one is.
    fn ends(&mut self, items: &[Value], rules: &Rules<'_>, room: Size, least: usize) -> Value {
        let place = self.gaps.len();
        self.gap(What::Items { start: 0, end: 0, of: items.len() });
        let most = Size::of((room.bytes / FEW).max(LEAST), room.breaks.div_ceil(FEW));
        let mut left = room.most_of_it();
        let mut head = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let taken = self.one(at, item, rules, most, left, head.len() < least);
            let Some((value, cost)) = taken else { break };
            left = left.less(cost);
            head.push(value);
        }
        let used = room.most_of_it().less(left);
        let mut left = room.less(used);
        let mut tail = Vec::new();
        for (at, item) in items.iter().enumerate().skip(head.len()).rev() {
            let Some((value, cost)) = self.one(at, item, rules, most, left, false) else { break };
            left = left.less(cost);
            tail.push(value);
        }
        let (start, end, of) = (head.len(), items.len() - tail.len(), items.len());
        match self.gaps.get_mut(place) {
            Some(gap) if end > start => gap.what = What::Items { start, end, of },
            // Each is there, if only in part.
            Some(_) => drop(self.gaps.remove(place)),
            None => {}
        }
        head.extend(tail.into_iter().rev());
        Value::Array(head)
    }

    /// An item with its comma, in part where it is long; nothing when there is no room for it.
    fn one(
        &mut self,
        at: usize,
        item: &Value,
        rules: &Rules<'_>,
        most: Size,
        left: Size,
        is_wanted: bool,
    ) -> Option<(Value, Size)> {
        let comma = Size::of(self.scale.marks(0, 1), 0);
        if !is_wanted && !self.size(item, most).least(most).and(comma).fits(left) {
            return None;
        }
        let before = self.gaps.len();
        let (value, cost) = self.within(&at.to_string(), item, &rules.item(at, item), most);
        let cost = cost.and(comma);
        if cost.fits(left) || is_wanted {
            return Some((value, cost));
        }
        self.gaps.truncate(before);
        None
    }

    fn object(&mut self, members: &Map<String, Value>, rules: &Rules<'_>, room: Size) -> Value {
        let inner = room.less(Size::of(self.scale.marks(0, 2), 0));
        let name_cost = |scale: Scale, name: &str| scale.name(name) + scale.marks(0, 1);
        let place = self.gaps.len();
        self.gap(What::Members { count: 0, of: members.len() });
        // Members that must stay, and of the others those at both ends for which there is room.
        let floor = |scale: Scale, name: &str| name_cost(scale, name) + scale.marks(0, 8);
        let must = |name: &str| !rules.may_lack(name);
        let scale = self.scale;
        let wanted: usize =
            members.keys().filter(|name| must(name)).map(|name| floor(scale, name)).sum();
        let mut chosen = vec![false; members.len()];
        let mut left = inner.bytes.saturating_sub(wanted);
        let optional: Vec<(usize, usize)> = members
            .keys()
            .enumerate()
            .filter(|(_, name)| !must(name))
            .map(|(at, name)| (at, floor(scale, name)))
            .collect();
        let in_all: usize = optional.iter().map(|(_, cost)| cost).sum();
        if in_all > left {
            // With room for something within each.
            left /= 2;
        }
        let mut tail_room = if in_all > left { left / 4 } else { left };
        let mut from_end = optional.iter().rev();
        let mut last = optional.len();
        for (at, cost) in from_end.by_ref() {
            let Some(rest) = tail_room.checked_sub(*cost) else { break };
            (tail_room, left, last) = (rest, left.saturating_sub(*cost), last - 1);
            if let Some(place) = chosen.get_mut(*at) {
                *place = true;
            }
        }
        for (at, cost) in optional.iter().take(last) {
            let Some(rest) = left.checked_sub(*cost) else { break };
            left = rest;
            if let Some(place) = chosen.get_mut(*at) {
                *place = true;
            }
        }
        let chosen: Vec<(&String, &Value)> = members
            .iter()
            .zip(chosen)
            .filter(|((name, _), chosen)| *chosen || must(name))
            .map(|(member, _)| member)
            .collect();
        let names: usize = chosen.iter().map(|(name, _)| name_cost(scale, name)).sum();
        let within = inner.less(Size::of(names, 0));
        let needs: Vec<Size> = chosen.iter().map(|(_, value)| self.need(value, within)).collect();
        let mut kept: Vec<Kept<'_>> = Vec::with_capacity(chosen.len());
        for ((name, value), share) in chosen.into_iter().zip(sizes(&needs, within)) {
            let (value, cost) = self.within(name, value, &rules.member(name, value), share);
            let cost = cost.and(Size::of(name_cost(scale, name), 0));
            kept.push(Kept { name, value, cost, may_go: rules.may_lack(name) });
        }
        self.make_room(&mut kept, members, rules, inner);
        let count = members.len() - kept.len();
        match self.gaps.get_mut(place) {
            Some(gap) if count > 0 => {
                gap.what = What::Members { count, of: members.len() };
            }
            Some(_) => drop(self.gaps.remove(place)),
            None => {}
        }
        Value::Object(kept.into_iter().map(|one| (one.name.to_owned(), one.value)).collect())
    }

    /// Where that is still too much, the largest of what may go goes, and what may be null becomes
    /// so.
    fn make_room(
        &mut self,
        kept: &mut Vec<Kept<'_>>,
        members: &Map<String, Value>,
        rules: &Rules<'_>,
        room: Size,
    ) {
        let null = self.size(&Value::Null, room);
        let mut cost = kept.iter().fold(Size::default(), |sum, one| sum.and(one.cost));
        while !cost.fits(room) {
            let can_go = kept.iter().enumerate().filter(|(_, one)| one.may_go);
            if let Some((at, _)) = can_go.max_by_key(|(_, one)| one.cost.bytes) {
                cost = cost.less(kept.remove(at).cost);
                continue;
            }
            let may_be_null = |one: &Kept<'_>| {
                let value = members.get(one.name).unwrap_or(&Value::Null);
                !one.value.is_null() && rules.member(one.name, value).may_be_null()
            };
            let Some(largest) =
                kept.iter_mut().filter(|one| may_be_null(one)).max_by_key(|one| one.cost.bytes)
            else {
                return;
            };
            let name = self.scale.name(largest.name) + self.scale.marks(0, 1);
            let now = null.and(Size::of(name, 0));
            cost = cost.less(largest.cost).and(now);
            (largest.value, largest.cost) = (Value::Null, now);
        }
    }
}
