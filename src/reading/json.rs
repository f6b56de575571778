//! Makes out JSON that is malformed or cut off, as models write it: bare line breaks and inner
//! quotation marks in strings, escapes that JSON does not have, missing or extra commas, names
//! without quotation marks, no end. It goes through the text once and never fails on a part.

use serde_json::{Map, Value};

/// Deeper objects and lists are no answer.
const MAX_DEPTH: usize = 64;

/// An object that was made out.
pub(super) struct Made {
    /// Its members; the last may be short of its end.
    pub(super) object: Map<String, Value>,
    /// Whether the text ended before the object did.
    pub(super) cut: bool,
    /// The member within whose value the text ended.
    pub(super) open: Option<String>,
}

/// The object that the text begins with; nothing when it does not, or is nested too deeply.
pub(super) fn object(text: &str) -> Option<Made> {
    let mut reader = Reader::of(text);
    match reader.value(0)? {
        Value::Object(object) => Some(Made { object, cut: reader.cut, open: reader.open }),
        _ => None,
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// Whether the text ended within something.
    cut: bool,
    /// The outermost member that it ended within.
    open: Option<String>,
}

impl<'a> Reader<'a> {
    fn of(rest: &'a str) -> Self {
        Self { rest, cut: false, open: None }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    /// Passes over blanks, and what else is listed.
    fn skip(&mut self, more: &[char]) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || more.contains(&c));
    }

    /// Nothing when it is too deep.
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip(&[]);
        match self.peek() {
            Some('{' | '[') if depth >= MAX_DEPTH => None,
            Some('{') => self.members(depth).map(Value::Object),
            Some('[') => self.items(depth).map(Value::Array),
            Some(mark @ ('"' | '\'')) => Some(Value::String(self.string(mark, false))),
            _ => Some(self.bare()),
        }
    }

    fn members(&mut self, depth: usize) -> Option<Map<String, Value>> {
        self.bump();
        let mut object = Map::new();
        loop {
            self.skip(&[',']);
            let name = match self.peek() {
                Some('}') => {
                    self.bump();
                    break;
                }
                None => {
                    self.cut = true;
                    break;
                }
                // The end of what this is within.
                Some(']') => break,
                Some(mark @ ('"' | '\'')) => self.string(mark, true),
                Some(_) => self.until(&[':', ',', '}', ']', '\n']).trim().to_owned(),
            };
            self.skip(&[]);
            let value = if self.peek() == Some(':') {
                self.bump();
                self.value(depth + 1)?
            } else {
                Value::Null
            };
            if depth == 0 && self.cut {
                self.open.get_or_insert_with(|| name.clone());
            }
            object.insert(name, value);
        }
        Some(object)
    }

    fn items(&mut self, depth: usize) -> Option<Vec<Value>> {
        self.bump();
        let mut items = Vec::new();
        loop {
            self.skip(&[',', ':']);
            match self.peek() {
                Some(']') => {
                    self.bump();
                    break;
                }
                None => {
                    self.cut = true;
                    break;
                }
                Some('}') => break,
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
        Some(items)
    }

    /// A literal, a number, or a text without quotation marks.
    fn bare(&mut self) -> Value {
        match self.until(&[',', '}', ']', '\n']).trim() {
            "" | "None" => Value::Null,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        }
    }

    fn until(&mut self, ends: &[char]) -> &str {
        let (text, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        self.cut |= rest.is_empty();
        text
    }

    /// A string, up to the mark that ends it, or the end of the text.
    fn string(&mut self, mark: char, is_name: bool) -> String {
        self.bump();
        let mut out = String::new();
        while let Some(c) = self.bump() {
            match c {
                '\\' => self.escape(&mut out),
                c if c == mark && self.is_end(is_name) => {
                    // With nothing behind it, the mark may as well stand within.
                    let rest =
                        self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                    self.cut |= rest.is_empty();
                    return out;
                }
                c => out.push(c),
            }
        }
        self.cut = true;
        out
    }

    /// Whether the quotation mark that was just read ends its string: by what follows it.
    fn is_end(&self, is_name: bool) -> bool {
        let rest = self.rest.trim_start();
        let blank = &self.rest[..self.rest.len() - rest.len()];
        match rest.chars().next() {
            None | Some('}' | ']') => true,
            Some(':') => is_name,
            Some(',') => {
                let next = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                is_name
                    || next.is_empty()
                    || next.starts_with(['"', '\'', '{', '[', '}', ']'])
                    || next
                        .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                        .starts_with(':')
            }
            // A comma that was forgotten.
            Some('"' | '\'') => blank.contains('\n'),
            Some(_) => false,
        }
    }

    fn escape(&mut self, out: &mut String) {
        match self.bump() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some(c @ ('"' | '\'' | '/' | '\\')) => out.push(c),
            Some('u') => match self.unit() {
                Some(unit) => out.push(self.character(unit)),
                // The text ends within it.
                None if self.rest.len() < 4 => self.rest = "",
                None => out.push_str("\\u"),
            },
            // A regular expression, or a path.
            Some(c) => out.extend(['\\', c]),
            None => {}
        }
    }

    /// The character of a UTF-16 unit, with the second half that may follow; half of one is lost.
    fn character(&mut self, unit: u16) -> char {
        let mut units = vec![unit];
        if (0xd800..0xdc00).contains(&unit) {
            let mut ahead = Reader::of(self.rest);
            if ahead.bump() == Some('\\')
                && ahead.bump() == Some('u')
                && let Some(second @ 0xdc00..0xe000) = ahead.unit()
            {
                units.push(second);
                self.rest = ahead.rest;
            }
        }
        char::decode_utf16(units).next().and_then(Result::ok).unwrap_or('\u{fffd}')
    }

    fn unit(&mut self) -> Option<u16> {
        let digits =
            self.rest.get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = self.rest.get(4..)?;
        u16::from_str_radix(digits, 16).ok()
    }
}
