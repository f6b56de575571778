//! What a value costs on the wire, counted without writing it.

use serde_json::Value;

/// Bytes, and line breaks within strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: usize,
    pub(super) breaks: usize,
}

impl Size {
    pub(super) const fn of(bytes: usize, breaks: usize) -> Self {
        Self { bytes, breaks }
    }

    pub(super) fn fits(self, room: Self) -> bool {
        self.bytes <= room.bytes && self.breaks <= room.breaks
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            breaks: self.breaks.saturating_add(other.breaks),
        }
    }

    pub(super) fn less(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            breaks: self.breaks.saturating_sub(other.breaks),
        }
    }

    pub(super) fn least(self, other: Self) -> Self {
        Self { bytes: self.bytes.min(other.bytes), breaks: self.breaks.min(other.breaks) }
    }

    /// Three quarters; of line breaks rounded up, so that a few of them are shared out.
    pub(super) fn most_of_it(self) -> Self {
        let breaks = self.breaks / 4 * 3 + (self.breaks % 4 * 3).div_ceil(4);
        Self { bytes: self.bytes / 4 * 3 + self.bytes % 4 * 3 / 4, breaks }
    }
}

/// How often a value is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As structured content.
    Once,
    /// As the text of a block, which escapes it once more.
    Nested,
    /// As both.
    Twice,
}

/// The bytes that a byte of a string becomes: as JSON, and as JSON within a string of JSON.
const fn escaped(byte: u8) -> (u8, u8) {
    match byte {
        b'"' | b'\\' => (2, 4),
        b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => (2, 3),
        0..0x20 => (6, 7),
        _ => (1, 1),
    }
}

const fn table(once: bool, nested: bool) -> [u8; 256] {
    let mut table = [0; 256];
    let mut at = 0_u8;
    loop {
        let (plain, inner) = escaped(at);
        table[at as usize] = if once { plain } else { 0 } + if nested { inner } else { 0 };
        if at == u8::MAX {
            return table;
        }
        at += 1;
    }
}

static ONCE: [u8; 256] = table(true, false);
static NESTED: [u8; 256] = table(false, true);
static TWICE: [u8; 256] = table(true, true);

impl Scale {
    fn table(self) -> &'static [u8; 256] {
        match self {
            Self::Once => &ONCE,
            Self::Nested => &NESTED,
            Self::Twice => &TWICE,
        }
    }

    /// What the marks of JSON around values cost: so many quotation marks, and so many others.
    pub(super) fn marks(self, quotes: usize, others: usize) -> usize {
        match self {
            Self::Once => quotes + others,
            Self::Nested => 2 * quotes + others,
            Self::Twice => 3 * quotes + 2 * others,
        }
    }

    /// What a character of a string costs.
    pub(super) fn character(self, c: char) -> usize {
        let copies = if self == Self::Twice { 2 } else { 1 };
        match u8::try_from(c) {
            Ok(byte) if c.is_ascii() => usize::from(self.table()[usize::from(byte)]),
            _ => copies * c.len_utf8(),
        }
    }

    /// What the characters of a string cost, its quotation marks left out. Of one that is longer
    /// than the room no more is told than that it does not fit.
    pub(super) fn characters(self, text: &str, room: Size) -> Size {
        let breaks = line_breaks(text);
        if text.len() > room.bytes {
            return Size::of(text.len(), breaks);
        }
        let table = self.table();
        let bytes = text.bytes().map(|byte| usize::from(table[usize::from(byte)])).sum();
        Size::of(bytes, breaks)
    }

    /// What a string costs.
    pub(super) fn string(self, text: &str, room: Size) -> Size {
        self.characters(text, room).and(Size::of(self.marks(2, 0), 0))
    }

    /// What a member's name with its colon costs.
    pub(super) fn name(self, name: &str) -> usize {
        self.string(name, Size::of(usize::MAX, 0)).bytes + self.marks(0, 1)
    }

    /// What a value costs; of one that does not fit no more is told than that.
    pub(super) fn value(self, value: &Value, room: Size) -> Size {
        match value {
            Value::Null => Size::of(self.marks(0, 4), 0),
            Value::Bool(yes) => Size::of(self.marks(0, if *yes { 4 } else { 5 }), 0),
            Value::Number(number) => Size::of(self.marks(0, digits(number)), 0),
            Value::String(text) => self.string(text, room),
            Value::Array(items) => {
                let mut size = Size::of(self.marks(0, 2 + items.len().saturating_sub(1)), 0);
                for item in items {
                    if !size.fits(room) {
                        break;
                    }
                    size = size.and(self.value(item, room.less(size)));
                }
                size
            }
            Value::Object(members) => {
                let mut size = Size::of(self.marks(0, 2 + members.len().saturating_sub(1)), 0);
                for (name, member) in members {
                    if !size.fits(room) {
                        break;
                    }
                    size = size.and(Size::of(self.name(name), 0));
                    size = size.and(self.value(member, room.less(size)));
                }
                size
            }
        }
    }
}

/// The length of a number as JSON writes it.
fn digits(number: &serde_json::Number) -> usize {
    struct Count(usize);
    impl std::fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting does not fail.
    let _ = std::fmt::write(&mut count, format_args!("{number}"));
    count.0
}

/// The line breaks of a text.
pub(super) fn line_breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
