//! What a check changed and what it found wrong, each a value with its words.

use std::fmt;

use super::Section;

/// Something that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The title got its `[OP]`.
    Tagged,
    /// A byte order mark went.
    ByteOrderMark,
    /// CRLF became LF.
    LineEnds,
    /// A header got its usual form.
    Header {
        /// The section.
        section: Section,
        /// The line as it was, cut to 40 characters.
        was: String,
    },
    /// A fence opened in the header's line and now stands on its own.
    FenceMoved(Section),
    /// Text without a fence was put in one.
    Wrapped {
        /// The section.
        section: Section,
        /// The fence's language.
        language: &'static str,
    },
    /// A fence got its language.
    FenceTagged {
        /// The section.
        section: Section,
        /// Which of its fenced blocks, from 1.
        block: usize,
        /// The language.
        language: &'static str,
    },
    /// Every command had a `$ ` in front, and has none now.
    Prompts {
        /// The section.
        section: Section,
        /// Which of its fenced blocks, from 1.
        block: usize,
    },
    /// RUN was built from DO and VERIFY.
    RunBuilt,
    /// ROLLBACK RUN was built from ROLLBACK.
    RollbackRunBuilt,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tagged => f.write_str("title: `[OP]` put in front"),
            Self::ByteOrderMark => f.write_str("note: byte order mark taken off"),
            Self::LineEnds => f.write_str("note: CRLF line ends made LF"),
            Self::Header { section, was } => {
                write!(f, "{section}: header `{was}` made `{section}:`")
            }
            Self::FenceMoved(section) => {
                write!(f, "{section}: the fence in its header put on a line of its own")
            }
            Self::Wrapped { section, language } => {
                write!(f, "{section}: bare text put in a ```{language} fence")
            }
            Self::FenceTagged { section, block, language } => {
                write!(f, "{section} block {block}: fence marked as `{language}`")
            }
            Self::Prompts { section, block } => {
                write!(f, "{section} block {block}: `$ ` taken off the commands")
            }
            // These two are words that clients know.
            Self::RunBuilt => f.write_str("run_synthesized"),
            Self::RollbackRunBuilt => f.write_str("rollback_run_synthesized"),
        }
    }
}

/// Something that is wrong. Two problems are the same when they are equal: an update that keeps
/// one does not make it new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A required section is not there.
    Missing(Section),
    /// A section is there and holds nothing.
    Empty(Section),
    /// A section of commands holds nothing to put in a fence.
    NoBlock(Section),
    /// A fence does not end.
    Unclosed {
        /// The section; `None` before the first one.
        section: Option<Section>,
        /// Which of its fenced blocks, from 1.
        block: usize,
    },
    /// Some commands have a `$ ` in front and some do not.
    MixedPrompts {
        /// The section.
        section: Section,
        /// Which of its fenced blocks, from 1.
        block: usize,
    },
    /// Commands name what is still to be filled in.
    Placeholders {
        /// The section.
        section: Section,
        /// Which of its fenced blocks, from 1.
        block: usize,
        /// The placeholders, sorted, each once.
        names: Vec<String>,
    },
    /// There are fewer than two lines `A) …`.
    FewOptions,
    /// A script is not in exactly one fenced block.
    NotOneScript {
        /// RUN or ROLLBACK RUN.
        section: Section,
        /// How many closed blocks there are.
        found: usize,
    },
    /// A script does not start with the shebang line.
    NoShebang(Section),
    /// A script does not stop at its first failure.
    NotStrict(Section),
    /// A script does nothing.
    NoCommand(Section),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(section @ Section::Run) => {
                write!(f, "missing {section} (and DO has no commands to build it from)")
            }
            Self::Missing(section) => write!(f, "missing {section}"),
            Self::Empty(section @ Section::Rollback) => {
                write!(f, "{section} is empty: give a fenced block, or `none` and why")
            }
            Self::Empty(section) => write!(f, "{section} is empty"),
            Self::NoBlock(section) => write!(f, "{section} has no fenced block"),
            Self::Unclosed { section: Some(section), block } => {
                write!(f, "{section} block {block} has no closing fence")
            }
            Self::Unclosed { section: None, block } => {
                write!(f, "block {block} before the first section has no closing fence")
            }
            Self::MixedPrompts { section, block } => {
                write!(f, "{section} block {block} has `$ ` before some commands only: take it off")
            }
            Self::Placeholders { section, block, names } => {
                write!(f, "{section} block {block} has no value for `{}`", names.join("`, `"))
            }
            Self::FewOptions => f.write_str("OPTIONS needs at least two lines `A) …`, `B) …`"),
            Self::NotOneScript { section, found } => {
                write!(f, "{section} must be exactly one fenced bash block, not {found}")
            }
            Self::NoShebang(section) => {
                write!(f, "{section} must start with `{}`", super::script::SHEBANG)
            }
            Self::NotStrict(section) => {
                write!(f, "{section} needs `{}` below its first line", super::script::STRICT)
            }
            Self::NoCommand(section) => write!(f, "{section} has no command"),
        }
    }
}
