//! A reply on its way out: measured, and clipped where it is over its budget.

use std::io;

use serde_json::{Map, Value};

use super::{
    Budget, Notice, Whole,
    fit::{Gap, fit, shares as shares_of},
    layout,
    notice::{MEMBER, META, words},
    rules::Rules,
    size::{Scale, Size, line_breaks},
    text,
};
use crate::{Block, Fault};

/// What a result has around its blocks and its structured content, in bytes.
const AROUND: usize = 96;

/// What a block of text has around its text, in bytes.
const BLOCK: usize = 28;

/// The places that are named as left out, and the part of the room that they may take, each of
/// the two times that they are named.
pub(super) const NAMED: usize = 8;
pub(super) const NAMED_PART: usize = 20;

/// A reply before it is measured.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// What a text-only client reads.
    pub blocks: Vec<Block>,
    /// What the caller should know of its call: one more block of text each.
    pub warnings: Vec<String>,
    /// The structured content.
    pub structured: Option<Value>,
    /// What is kept of a reply without structured content.
    pub record: Option<Value>,
    /// Whether it is a failure.
    pub is_error: bool,
}

/// A reply as it goes out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// Texts, images and links.
    pub blocks: Vec<Block>,
    /// The structured content.
    pub structured: Option<Value>,
    /// Whether it is a failure.
    pub is_error: bool,
    /// What `_meta` says under [`META`].
    pub meta: Option<Value>,
}

/// What measuring a reply comes to.
#[derive(Debug)]
pub enum Measured {
    /// It goes out as it is.
    Fits(Shown),
    /// It is over its budget.
    Over(Draft),
}

impl Draft {
    /// The reply of a failed call.
    pub fn failed(fault: &Fault) -> Self {
        let body = fault.body();
        let mut more = body.clone();
        more.shift_remove("error");
        Self {
            blocks: vec![Block::Text(fault.message.clone()), Block::Json(Value::Object(more))],
            record: Some(Value::Object(body)),
            is_error: true,
            ..Self::default()
        }
    }

    /// What is kept of it, for the token of that name.
    pub fn whole(&self, token: &str, tool: &'static str) -> Whole {
        let json = self.structured.as_ref().or(self.record.as_ref());
        Whole {
            token: token.to_owned(),
            tool,
            is_error: self.is_error,
            json: json.map(layout).unwrap_or_default(),
            text: self.text(),
        }
    }

    /// The tool's own text: its first block, where that is one. What else it says of the reply in
    /// words, the reply says as JSON.
    fn text(&self) -> Option<String> {
        match self.blocks.first() {
            Some(Block::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// Measures it. What is far too large is not looked at further than that shows.
    pub fn measure(self, budget: Option<Budget>) -> Measured {
        let Some(budget) = budget else { return Measured::Fits(self.unbounded()) };
        match self.texts_of_json(budget) {
            Some(written) if self.fits(budget, &written) => Measured::Fits(self.written(written)),
            _ => Measured::Over(self),
        }
    }

    /// As it is, whatever its size.
    pub fn unbounded(self) -> Shown {
        self.written(Vec::new())
    }

    /// The JSON of the blocks that are JSON, each in its place; nothing when one alone is too large.
    fn texts_of_json(&self, budget: Budget) -> Option<Vec<Option<String>>> {
        let most = budget.room().bytes;
        let text = |block: &Block| match self.json(block) {
            Some(value) => write(value, most).map(Some),
            None => Some(None),
        };
        self.blocks.iter().map(text).collect()
    }

    /// The value whose JSON is the text of a block.
    fn json<'d>(&'d self, block: &'d Block) -> Option<&'d Value> {
        match block {
            Block::Json(value) => Some(value),
            Block::Part(at) => self.structured.as_ref()?.pointer(at),
            _ => None,
        }
    }

    /// Whether it is within the budget. A small reply is known to be by the lengths of its texts;
    /// what their characters cost is counted only where that leaves it open.
    fn fits(&self, budget: Budget, written: &[Option<String>]) -> bool {
        let room = budget.room();
        let (mut bytes, mut lines) = (AROUND, self.warnings.len());
        let mut all = None;
        for (block, json) in self.blocks.iter().zip(written) {
            match (block, json) {
                (_, Some(json)) => {
                    (bytes, lines) = (bytes + BLOCK + 2 * json.len(), lines + 1);
                    all = all.or(Some(json).filter(|_| self.is_all(block)));
                }
                (Block::Text(text), None) => {
                    (bytes, lines) = (bytes + BLOCK + 6 * text.len(), lines + lines_of(text));
                }
                _ => {}
            }
        }
        for warning in &self.warnings {
            bytes += BLOCK + 6 * (warning.len() + WARNING.len());
        }
        let structured = match (&self.structured, all) {
            // A line break is written with a backslash.
            (Some(_), Some(json))
                if memchr::memchr_iter(b'\\', json.as_bytes()).count() < room.lines =>
            {
                Size::of(json.len() + 16, 0)
            }
            (Some(value), _) => Scale::Once.value(value, room.size()),
            (None, _) => Size::default(),
        };
        lines <= room.lines
            && structured.breaks < room.lines
            && (bytes + structured.bytes <= room.bytes
                || AROUND + self.exact(written) + structured.bytes <= room.bytes)
    }

    /// Whether a block is all of the structured content, but for a member around it.
    fn is_all(&self, block: &Block) -> bool {
        let Block::Part(at) = block else { return false };
        let members = self.structured.as_ref().and_then(Value::as_object);
        at.is_empty() || members.is_some_and(|members| members.len() == 1)
    }

    /// The bytes of all blocks of text.
    fn exact(&self, written: &[Option<String>]) -> usize {
        let all = Size::of(usize::MAX, usize::MAX);
        let cost = |text: &str| BLOCK + Scale::Once.characters(text, all).bytes;
        let blocks = self.blocks.iter().zip(written).map(|(block, json)| match (block, json) {
            (_, Some(json)) => cost(json),
            (Block::Text(text), None) => cost(text),
            _ => 0,
        });
        let warnings = self.warnings.iter().map(|text| cost(text) + WARNING.len());
        blocks.sum::<usize>() + warnings.sum::<usize>()
    }

    /// As it goes out when it fits.
    fn written(self, written: Vec<Option<String>>) -> Shown {
        let Self { blocks, warnings, structured, is_error, .. } = self;
        let json = |value: Option<&Value>| value.unwrap_or(&Value::Null).to_string();
        let mut written = written.into_iter();
        let blocks = blocks.into_iter().map(|block| match (block, written.next().flatten()) {
            (_, Some(text)) => Block::Text(text),
            (Block::Json(value), None) => Block::Text(value.to_string()),
            (Block::Part(at), None) => {
                Block::Text(json(structured.as_ref().and_then(|value| value.pointer(at))))
            }
            (other, None) => other,
        });
        let mut blocks: Vec<Block> = blocks.collect();
        blocks.extend(warnings.iter().map(|warning| Block::Text(format!("{WARNING}{warning}"))));
        Shown { blocks, structured, is_error, meta: None }
    }

    /// Makes it fit: an envelope that its schema permits. `schema` is the one that was published
    /// for the structured content.
    ///
    /// Where texts and structured content do not go together, the texts go but for what is said of
    /// the clip. Where even the least that the schema permits is too much, the structured content
    /// goes, and the reply is marked as a failure, since clients hold every other one to its schema;
    /// the words say that it is none.
    pub fn clip(&self, schema: &Map<String, Value>, budget: Budget, notice: &Notice) -> Shown {
        let shown = self.shared(schema, budget, notice);
        if shown.is_within(budget) {
            return shown;
        }
        let passes = |block: &&Block| matches!(block, Block::Image { .. } | Block::Link { .. });
        let mut blocks: Vec<Block> = self.blocks.iter().filter(passes).cloned().collect();
        let said = Block::Text(notice.text(&[]));
        blocks.push(said.clone());
        if let Some(value) = &self.structured {
            let left = budget.room().bytes.saturating_sub(self.around(schema, notice));
            let room = Size::of(left, budget.room().lines.saturating_sub(1));
            let (value, _) = fit(value, schema, room, Scale::Once, 0);
            let blocks = blocks.clone();
            let shown = self.envelope(blocks, Some(value), schema, notice, &[]);
            if shown.is_within(budget) {
                return shown;
            }
        }
        blocks.pop();
        if !self.is_error {
            blocks.push(Block::Text(UNSHOWN.to_owned()));
        }
        blocks.push(said);
        Shown { blocks, structured: None, is_error: true, meta: Some(notice.member(&[])) }
    }

    /// Texts and structured content, each in its share of the room.
    fn shared(&self, schema: &Map<String, Value>, budget: Budget, notice: &Notice) -> Shown {
        let room = budget.room();
        let named = room.bytes / NAMED_PART;
        let left = room.bytes.saturating_sub(self.around(schema, notice) + 2 * named);
        let (texts, json_blocks) = (self.needs(left), self.json_blocks());
        let scale = if self.blocks.iter().any(|block| matches!(block, Block::Part(_))) {
            Scale::Twice
        } else {
            Scale::Once
        };
        let (structured, gaps, texts) =
            self.share(schema, Size::of(left, room.lines.saturating_sub(1)), scale, texts);
        let gaps: Vec<String> = gaps.iter().map(words).collect();
        let gaps = as_many(&gaps, named);
        let lines = room.lines.saturating_sub(1 + json_blocks + self.warnings.len());
        let mut blocks = self.cut_blocks(structured.as_ref(), &texts, lines);
        blocks.push(Block::Text(notice.text(&gaps)));
        self.envelope(blocks, structured, schema, notice, &gaps)
    }

    /// What there is around what is cut, in bytes.
    fn around(&self, schema: &Map<String, Value>, notice: &Notice) -> usize {
        let all = Size::of(usize::MAX, usize::MAX);
        let said = BLOCK + Scale::Once.characters(&notice.text(&[]), all).bytes;
        let member = Scale::Once.value(&notice.member(&[]), all).bytes;
        let name = if self.is_open(schema) { Scale::Once.name(MEMBER) } else { META.len() + 4 };
        AROUND + said + member + name + 1
    }

    /// Whether the structured content may have one more member.
    fn is_open(&self, schema: &Map<String, Value>) -> bool {
        self.structured.as_ref().is_some_and(|value| {
            Rules::of(value, schema).is_open()
                && value.as_object().is_some_and(|members| !members.contains_key(MEMBER))
        })
    }

    fn envelope(
        &self,
        blocks: Vec<Block>,
        mut structured: Option<Value>,
        schema: &Map<String, Value>,
        notice: &Notice,
        gaps: &[String],
    ) -> Shown {
        let mut meta = None;
        match &mut structured {
            Some(Value::Object(members)) if self.is_open(schema) => {
                members.insert(MEMBER.to_owned(), notice.member(gaps));
            }
            _ => meta = Some(notice.member(gaps)),
        }
        Shown { blocks, structured, is_error: self.is_error, meta }
    }

    fn json_blocks(&self) -> usize {
        self.blocks.iter().filter(|block| matches!(block, Block::Json(_) | Block::Part(_))).count()
    }

    /// What each block of text wants of so much room.
    fn needs(&self, room: usize) -> Vec<usize> {
        let most = Size::of(room, usize::MAX);
        let need = |text: &str| Scale::Once.characters(text, most).bytes.min(room + 1);
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text(text) => BLOCK + need(text),
            Block::Json(value) => BLOCK + Scale::Nested.value(value, most).bytes.min(room + 1),
            Block::Part(_) => BLOCK,
            Block::Image { .. } | Block::Link { .. } => 0,
        });
        let warnings = self.warnings.iter().map(|text| BLOCK + WARNING.len() + need(text));
        blocks.chain(warnings).collect()
    }

    /// Shares the room between the structured content and the blocks: the structured content in its
    /// share, what was left out of it, and the shares of the blocks.
    fn share(
        &self,
        schema: &Map<String, Value>,
        room: Size,
        scale: Scale,
        mut needs: Vec<usize>,
    ) -> (Option<Value>, Vec<Gap>, Vec<usize>) {
        let Some(value) = &self.structured else {
            return (None, Vec::new(), shares_of(&needs, room.bytes));
        };
        let own = scale.value(value, room).bytes.min(room.bytes + 1);
        needs.push(own);
        let share = shares_of(&needs, room.bytes).pop().unwrap_or_default();
        needs.pop();
        let (value, gaps) = fit(value, schema, Size::of(share, room.breaks), scale, NAMED);
        let used = scale.value(&value, Size::of(usize::MAX, usize::MAX)).bytes;
        let texts = shares_of(&needs, room.bytes.saturating_sub(used));
        (Some(value), gaps, texts)
    }

    /// The blocks, each in its share.
    fn cut_blocks(&self, structured: Option<&Value>, shares: &[usize], lines: usize) -> Vec<Block> {
        let wants = self.blocks.iter().map(|block| match block {
            Block::Text(text) => lines_of(text),
            _ => 0,
        });
        let lines = shares_of(&wants.collect::<Vec<_>>(), lines);
        let mut shares = shares.iter().map(|share| share.saturating_sub(BLOCK));
        let mut blocks = Vec::with_capacity(self.blocks.len() + self.warnings.len() + 1);
        for (block, lines) in self.blocks.iter().zip(lines) {
            let share = shares.next().unwrap_or_default();
            blocks.push(match block {
                Block::Text(text) => {
                    Block::Text(cut(text, Size::of(share, lines.saturating_sub(1))))
                }
                Block::Json(value) => {
                    let room = Size::of(share, usize::MAX);
                    let (value, _) = fit(value, &Map::new(), room, Scale::Nested, 0);
                    Block::Text(value.to_string())
                }
                Block::Part(at) => {
                    let value = structured.and_then(|value| value.pointer(at));
                    Block::Text(value.unwrap_or(&Value::Null).to_string())
                }
                passed => passed.clone(),
            });
        }
        for warning in &self.warnings {
            let room = Size::of(shares.next().unwrap_or_default(), 0);
            let warning = format!("{WARNING}{warning}");
            blocks.push(Block::Text(cut(&warning, room)));
        }
        blocks
    }
}

const WARNING: &str = "warning: ";

impl Shown {
    /// Whether all of it is within a budget. Images and links are not counted: clients handle them
    /// by themselves.
    pub fn is_within(&self, budget: Budget) -> bool {
        let (bytes, lines) = self.weight();
        let room = budget.room();
        bytes <= room.bytes && lines <= room.lines
    }

    /// Its bytes on the wire and its lines.
    pub fn weight(&self) -> (usize, usize) {
        let all = Size::of(usize::MAX, usize::MAX);
        let (mut bytes, mut lines) = (AROUND, 0);
        for block in &self.blocks {
            if let Block::Text(text) = block {
                bytes += BLOCK + Scale::Once.characters(text, all).bytes;
                lines += lines_of(text);
            }
        }
        for value in self.structured.iter().chain(&self.meta) {
            let size = Scale::Once.value(value, all);
            bytes += size.bytes;
            lines = lines.max(size.breaks + 1);
        }
        if self.meta.is_some() {
            bytes += META.len() + 4;
        }
        (bytes, lines)
    }
}

const UNSHOWN: &str =
    "The call was done; its reply is too large to be shown in the form that was promised for it.";

/// As many of the places as there is room for.
pub(super) fn as_many(gaps: &[String], room: usize) -> Vec<String> {
    let all = Size::of(usize::MAX, usize::MAX);
    let mut left = room.saturating_sub(32);
    let fits = |gap: &&String| {
        let rest = left.checked_sub(Scale::Once.string(gap, all).bytes + 2);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    gaps.iter().take_while(fits).cloned().collect()
}

fn cut(text: &str, room: Size) -> String {
    if Scale::Once.characters(text, room).fits(room) {
        return text.to_owned();
    }
    text::cut(text, room, Scale::Once).text
}

fn lines_of(text: &str) -> usize {
    line_breaks(text) + 1
}

/// A value as JSON, where that has at most so many bytes.
fn write(value: &Value, most: usize) -> Option<String> {
    struct Bounded {
        out: Vec<u8>,
        most: usize,
    }
    impl io::Write for Bounded {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.out.len() + bytes.len() > self.most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.out.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut out = Bounded { out: Vec::new(), most };
    serde_json::to_writer(&mut out, value).ok()?;
    String::from_utf8(out.out).ok()
}
