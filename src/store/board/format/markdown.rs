//! The little Markdown that notes are read by: fences of backticks, and code in a line.

/// A line that opens or closes a fenced block.
#[derive(Clone, Copy)]
pub(super) struct Fence<'a> {
    /// How many backticks; three or more.
    pub(super) ticks: usize,
    /// What stands behind them, trimmed.
    pub(super) info: &'a str,
}

impl<'a> Fence<'a> {
    /// Reads a line. Up to three blanks may stand before the backticks, and no backtick behind
    /// them: that would be code in a line.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        if line[..line.len() - text.len()].chars().count() > 3 {
            return None;
        }
        let info = text.trim_start_matches('`');
        let ticks = text.len() - info.len();
        (ticks >= 3 && !info.contains('`')).then(|| Self { ticks, info: info.trim() })
    }

    /// Whether this line ends the block that `open` began. What stands behind the backticks does
    /// not matter: a fence that opens inside another means that the first was left open.
    pub(super) fn closes(self, open: Self) -> bool {
        self.ticks >= open.ticks
    }
}

/// Follows lines and tells which stand inside a fenced block.
#[derive(Default)]
pub(super) struct Inside {
    ticks: Option<usize>,
}

impl Inside {
    /// Whether a block is open.
    pub(super) fn is_open(&self) -> bool {
        self.ticks.is_some()
    }

    /// Goes past a line, fence or not.
    pub(super) fn pass(&mut self, line: &str) {
        let Some(fence) = Fence::of(line) else { return };
        self.ticks = match self.ticks {
            None => Some(fence.ticks),
            Some(ticks) if fence.ticks >= ticks => None,
            open => open,
        };
    }
}

/// A fenced block among lines.
pub(super) struct Block {
    /// The line of the opening fence.
    pub(super) open: usize,
    /// The line of the closing one.
    pub(super) close: Option<usize>,
    /// The first word behind the opening fence, in small letters; empty without one.
    pub(super) language: String,
}

impl Block {
    /// Whether the block is to be pasted in a shell.
    pub(super) fn is_shell(&self) -> bool {
        matches!(self.language.as_str(), "bash" | "sh" | "shell" | "zsh" | "console")
    }
}

/// The fenced blocks among lines, in order.
pub(super) fn blocks(lines: &[String]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fences = lines.iter().enumerate().filter_map(|(at, line)| Some((at, Fence::of(line)?)));
    while let Some((open, fence)) = fences.next() {
        let close = fences.find(|(_, end)| end.closes(fence)).map(|(at, _)| at);
        let language = fence.info.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        blocks.push(Block { open, close, language });
    }
    blocks
}

/// A fence that no line of `lines` closes.
pub(super) fn fence_around(lines: &[String]) -> String {
    let longest = lines.iter().filter_map(|line| Fence::of(line)).map(|fence| fence.ticks).max();
    "`".repeat(longest.map_or(3, |ticks| ticks + 1))
}

/// The code of a line that is nothing but code between backticks; else the line.
pub(super) fn unquoted(line: &str) -> &str {
    let text = line.trim();
    let code = text.trim_matches('`');
    let ticks = text.len() - text.trim_start_matches('`').len();
    let is_code = ticks > 0
        && !code.is_empty()
        && !code.contains('`')
        && text.len() == code.len() + 2 * ticks
        && text.trim_end_matches('`').len() == ticks + code.len();
    if is_code { code } else { line }
}
