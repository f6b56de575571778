//! One table or one value of the file, read as the type that it must have. A value that is not
//! right is noted with its place, and reading goes on.

use std::{ops::RangeInclusive, time::Duration};

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use crate::{
    hint::{listed, nearest},
    notes::{Notes, shown},
};

/// The longest time that may be asked for: longer is a slip, and sums of times must not overflow.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// A table and what it is called in messages.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'f> {
    pub(crate) title: &'f str,
    /// Where it starts.
    pub(crate) at: usize,
    table: &'f DeTable<'f>,
    /// Whether all of it could be read, so that a key that is not there is really missing.
    whole: bool,
}

/// A value and its key.
#[derive(Clone, Copy)]
pub(crate) struct Field<'f> {
    pub(crate) name: &'f str,
    /// Where the value starts.
    pub(crate) at: usize,
    pub(crate) value: &'f DeValue<'f>,
    /// Whether it is one of several in an array of that name.
    element: bool,
}

impl<'f> Fields<'f> {
    pub(crate) fn new(title: &'f str, at: usize, table: &'f DeTable<'f>, whole: bool) -> Self {
        Self { title, at, table, whole }
    }

    /// The value of a key, if it is given.
    pub(crate) fn get(&self, key: &str) -> Option<Field<'f>> {
        let (key, value) = self.table.get_key_value(key)?;
        Some(Field::new(key.get_ref(), value, false))
    }

    /// The value of a key that must be given.
    pub(crate) fn require(&self, key: &str, example: &str, notes: &mut Notes) -> Option<Field<'f>> {
        let field = self.get(key);
        if field.is_none() && self.whole {
            notes.error(self.at, format!("`{}` has no `{key}`: add `{example}`", self.title));
        }
        field
    }

    /// All values in file order, each with where its key starts.
    pub(crate) fn all(&self) -> Vec<(usize, Field<'f>)> {
        let field = |(key, value): (&'f Spanned<DeString<'f>>, &'f Spanned<DeValue<'f>>)| {
            (key.span().start, Field::new(key.get_ref(), value, false))
        };
        let mut all: Vec<_> = self.table.iter().map(field).collect();
        all.sort_by_key(|(at, _)| *at);
        all
    }

    /// Notes each key that is not known, with the nearest one that is.
    pub(crate) fn only(&self, known: &[&str], notes: &mut Notes) {
        for (at, field) in self.all() {
            if !known.contains(&field.name) {
                notes.error(at, unknown(field.name, self.title, known));
            }
        }
    }
}

/// What to say of a key that is not known.
pub(crate) fn unknown(key: &str, title: &str, known: &[&str]) -> String {
    let name = shown(key);
    match nearest(key, known) {
        Some(meant) => format!("unknown key `{name}` in `{title}`: did you mean `{meant}`?"),
        None => format!(
            "unknown key `{name}` in `{title}`: it knows {}",
            listed(known.iter().copied(), "and")
        ),
    }
}

impl<'f> Field<'f> {
    fn new(name: &'f str, value: &'f Spanned<DeValue<'f>>, element: bool) -> Self {
        Self { name, at: value.span().start, value: value.get_ref(), element }
    }

    /// Notes that the value is not what it must be.
    fn wrong<T>(&self, wanted: &str, notes: &mut Notes) -> Option<T> {
        let is = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a decimal number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.bad(format!("must be {wanted}, not {is}"), notes)
    }

    /// Notes what is wrong with the value.
    pub(crate) fn bad<T>(&self, what: impl AsRef<str>, notes: &mut Notes) -> Option<T> {
        let each = if self.element { "each of " } else { "" };
        notes.error(self.at, format!("{each}`{}` {}", shown(self.name), what.as_ref()));
        None
    }

    /// Any string.
    pub(crate) fn string(&self, notes: &mut Notes) -> Option<&'f str> {
        match self.value {
            DeValue::String(text) => Some(text.as_ref()),
            _ => self.wrong("a string in quotes", notes),
        }
    }

    /// A string that says something on one line.
    pub(crate) fn line(&self, notes: &mut Notes) -> Option<&'f str> {
        let text = self.string(notes)?;
        if text.trim().is_empty() {
            self.bad("must not be empty", notes)
        } else if text.chars().any(char::is_control) {
            self.bad("must not contain control characters or line breaks", notes)
        } else if text.trim() != text {
            self.bad("must not start or end with a space", notes)
        } else {
            Some(text)
        }
    }

    pub(crate) fn boolean(&self, notes: &mut Notes) -> Option<bool> {
        match self.value {
            DeValue::Boolean(yes) => Some(*yes),
            DeValue::String(_) => self.bad("must be `true` or `false` without quotes", notes),
            _ => self.wrong("`true` or `false`", notes),
        }
    }

    /// A whole number within bounds.
    pub(crate) fn whole(&self, within: RangeInclusive<u64>, notes: &mut Notes) -> Option<u64> {
        let DeValue::Integer(number) = self.value else {
            return match self.value {
                DeValue::String(_) => self.bad("must be a whole number without quotes", notes),
                _ => self.wrong("a whole number", notes),
            };
        };
        let (least, most) = within.into_inner();
        let digits = number.as_str();
        match u64::from_str_radix(digits, number.radix()) {
            Ok(number) if number < least => self.bad(format!("must be {least} or more"), notes),
            Ok(number) if number <= most => Some(number),
            Err(_) if digits.starts_with('-') => {
                self.bad(format!("must be {least} or more"), notes)
            }
            _ => self.bad(format!("must be {most} or less"), notes),
        }
    }

    /// A price: finite and not below zero.
    pub(crate) fn price(&self, notes: &mut Notes) -> Option<f64> {
        let text = match self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            DeValue::String(_) => return self.bad("must be a number without quotes", notes),
            _ => return self.wrong("a number of US dollars", notes),
        };
        match text.parse::<f64>() {
            // The sum turns a negative zero into zero.
            Ok(price) if price.is_finite() && price >= 0.0 => Some(price + 0.0),
            _ => self.bad("must be a price of zero or more US dollars", notes),
        }
    }

    /// A time; `None` within is none at all, where that is allowed.
    fn time(&self, wanted: &str, notes: &mut Notes) -> Option<Duration> {
        let DeValue::String(text) = self.value else {
            return self.wrong(wanted, notes);
        };
        match humantime::parse_duration(text) {
            Ok(time) if time <= LONGEST => Some(time),
            Ok(_) => self.bad("must be a year or less", notes),
            Err(_) => self.bad(format!("must be {wanted}"), notes),
        }
    }

    /// A time such as `"250ms"`.
    pub(crate) fn duration(&self, notes: &mut Notes) -> Option<Duration> {
        self.time("a time in quotes such as `\"250ms\"` or `\"2s\"`", notes)
    }

    /// Sets a time-out: above zero, or `"none"` for none.
    pub(crate) fn timeout(&self, timeout: &mut Option<Duration>, notes: &mut Notes) {
        if matches!(self.value, DeValue::String(text) if text == "none") {
            *timeout = None;
            return;
        }
        let wanted =
            "a time in quotes such as `\"2s\"` or `\"10m\"`, or `\"none\"` for no time-out";
        match self.time(wanted, notes) {
            Some(Duration::ZERO) => {
                self.bad::<()>("must be above zero, or `\"none\"` for no time-out", notes);
            }
            Some(time) => *timeout = Some(time),
            None => {}
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, words: &[(&str, T)], notes: &mut Notes) -> Option<T> {
        let word = self.string(notes)?;
        words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).or_else(|| {
            let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
            let meant = nearest(word, &names)
                .map_or_else(String::new, |meant| format!(": did you mean `{meant}`?"));
            let all = listed(names, "or");
            self.bad(format!("must be {all}, not `{}`{meant}", shown(word)), notes)
        })
    }

    /// The elements of an array. Each bears the array's name.
    pub(crate) fn elements(&self, of: &str, notes: &mut Notes) -> Option<Vec<Field<'f>>> {
        let DeValue::Array(elements) = self.value else {
            return self.wrong(&format!("an array of {of}"), notes);
        };
        Some(elements.iter().map(|value| Field::new(self.name, value, true)).collect())
    }

    /// A table within the entry.
    pub(crate) fn table(&self, example: &str, notes: &mut Notes) -> Option<Fields<'f>> {
        match self.value {
            DeValue::Table(table) => Some(Fields::new(self.name, self.at, table, true)),
            _ => self.wrong(&format!("a table such as `{example}`"), notes),
        }
    }
}
