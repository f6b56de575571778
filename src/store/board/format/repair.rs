//! What can be mended safely in a title and in each section, and what is wrong there.

use std::borrow::Cow;

use super::{
    Change, Kind, Problem, Section,
    markdown::{Block, Fence, blocks, unquoted},
    note::{Note, Part},
    placeholder::placeholders,
    section::Content,
};

/// How much of a header is shown when it was rewritten, in characters.
const SHOWN: usize = 40;

/// An operator item's title says that it is one, or that it needs root.
pub(super) fn title(kind: Kind, title: &str, changes: &mut Vec<Change>) -> String {
    let text = title.trim();
    let is_tagged = ["[op]", "[root]"]
        .into_iter()
        .any(|tag| text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag)));
    if kind != Kind::Operator || text.is_empty() || is_tagged {
        return title.to_owned();
    }
    changes.push(Change::Tagged);
    format!("[OP] {text}")
}

/// A carriage return at the end of a command is part of it to a shell.
pub(super) fn line_ends<'a>(note: &'a str, changes: &mut Vec<Change>) -> Cow<'a, str> {
    let note = match note.strip_prefix('\u{feff}') {
        Some(rest) => {
            changes.push(Change::ByteOrderMark);
            rest
        }
        None => note,
    };
    let lines = || note.split('\n');
    if !lines().any(|line| line.ends_with('\r')) {
        return Cow::Borrowed(note);
    }
    changes.push(Change::LineEnds);
    Cow::Owned(lines().map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join("\n"))
}

/// Gives every header its usual form, and a fence in a header's line one of its own.
pub(super) fn headers(note: &mut Note, changes: &mut Vec<Change>) {
    for part in &mut note.parts {
        let section = part.section;
        if part.opens_fence() {
            let fence = std::mem::take(&mut part.inline);
            part.body.insert(0, fence);
            part.header = format!("{section}:");
            changes.push(Change::FenceMoved(section));
        } else if !part
            .header
            .strip_prefix(section.name())
            .is_some_and(|rest| rest.starts_with(':'))
        {
            let was = part.header.trim().chars().take(SHOWN).collect();
            let gap = if part.inline.is_empty() { "" } else { " " };
            part.header = format!("{section}:{gap}{}", part.inline);
            changes.push(Change::Header { section, was });
        }
    }
}

/// Mends the text of every section and says what is wrong with it.
pub(super) fn sections(note: &mut Note, changes: &mut Vec<Change>, problems: &mut Vec<Problem>) {
    problems.extend(unclosed(None, &note.preamble));
    for part in &mut note.parts {
        let content = part.section.content();
        match content {
            Content::Free | Content::Prose => {
                if content == Content::Prose && part.is_empty() {
                    problems.push(Problem::Empty(part.section));
                }
                problems.extend(unclosed(Some(part.section), &part.body));
            }
            Content::Text => fenced(part, "text", changes, problems),
            Content::Commands => fenced(part, "bash", changes, problems),
        }
    }
}

/// An open fence swallows every section below it.
fn unclosed(section: Option<Section>, lines: &[String]) -> Option<Problem> {
    let blocks = blocks(lines);
    let is_open = blocks.last().is_some_and(|block| block.close.is_none());
    is_open.then_some(Problem::Unclosed { section, block: blocks.len() })
}

/// A section whose content stands in fences.
fn fenced(
    part: &mut Part,
    language: &'static str,
    changes: &mut Vec<Change>,
    problems: &mut Vec<Problem>,
) {
    let section = part.section;
    if blocks(&part.body).is_empty() {
        if part.is_empty() {
            problems.push(match section {
                Section::Rollback => Problem::Empty(section),
                _ => Problem::NoBlock(section),
            });
            return;
        }
        if section == Section::Rollback && says_none(part) {
            return;
        }
        wrap(part, language);
        changes.push(Change::Wrapped { section, language });
    }
    for (at, mut block) in blocks(&part.body).into_iter().enumerate() {
        let number = at + 1;
        if block.language.is_empty() {
            let fence = &mut part.body[block.open];
            fence.truncate(fence.trim_end().len());
            fence.push_str(language);
            language.clone_into(&mut block.language);
            changes.push(Change::FenceTagged { section, block: number, language });
        }
        let Some(close) = block.close else {
            problems.push(Problem::Unclosed { section: Some(section), block: number });
            continue;
        };
        if section.content() == Content::Commands && block.is_shell() {
            let lines = &mut part.body[block.open + 1..close];
            commands(section, number, lines, changes, problems);
        }
    }
}

/// Whether the first words are that there is nothing to take back.
fn says_none(part: &Part) -> bool {
    let text = part.one_line().trim_start().to_ascii_lowercase();
    ["none", "n/a", "not applicable"].into_iter().any(|word| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Puts the bare text of a section in a fence; blank lines below it stay below.
fn wrap(part: &mut Part, language: &str) {
    let inline = std::mem::take(&mut part.inline);
    let is_blank = |line: &&String| line.trim().is_empty();
    let trailing = part.body.iter().rev().take_while(is_blank).count();
    let below = part.body.split_off(part.body.len() - trailing);
    let content = std::iter::once(&inline).chain(&part.body).skip_while(is_blank);
    let mut body = vec![format!("```{language}")];
    body.extend(content.map(|line| unquoted(line).to_owned()));
    body.push("```".to_owned());
    body.extend(below);
    *part = Part::new(part.section, body);
}

/// Commands that are pasted bear no prompts, and nothing that is still to be filled in.
fn commands(
    section: Section,
    block: usize,
    lines: &mut [String],
    changes: &mut Vec<Change>,
    problems: &mut Vec<Problem>,
) {
    let is_command = |line: &&mut String| {
        let text = line.trim_start();
        !text.is_empty() && !text.starts_with('#')
    };
    let total = lines.iter_mut().filter(is_command).count();
    let mut marked: Vec<_> = lines
        .iter_mut()
        .filter(is_command)
        .filter_map(|line| Some((without_prompt(line)?, line)))
        .collect();
    if !marked.is_empty() && marked.len() == total {
        for (bare, line) in &mut marked {
            std::mem::swap(bare, *line);
        }
        changes.push(Change::Prompts { section, block });
    } else if !marked.is_empty() {
        problems.push(Problem::MixedPrompts { section, block });
    }
    // The comments of a script repeat the title and what is expected, where `<pid>` is no gap.
    let is_script = matches!(section, Section::Run | Section::RollbackRun);
    let read = lines.iter().map(String::as_str);
    let names = placeholders(read.filter(|line| !is_script || !line.trim_start().starts_with('#')));
    if !names.is_empty() {
        problems.push(Problem::Placeholders { section, block, names });
    }
}

/// A command without the `$ ` in front of it, its indentation kept; `None` when it has none, or
/// when what is left would end the block.
fn without_prompt(line: &str) -> Option<String> {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    let mut rest = text.strip_prefix("$ ")?;
    while let Some(more) = rest.strip_prefix("$ ") {
        rest = more;
    }
    let bare = format!("{indent}{rest}");
    Fence::of(&bare).is_none().then_some(bare)
}

/// The lines of a section's closed shell blocks, in order.
pub(super) fn shell_lines(part: &Part) -> impl Iterator<Item = &String> {
    let is_read = |block: &Block| block.language.is_empty() || block.is_shell();
    blocks(&part.body)
        .into_iter()
        .filter(is_read)
        .filter_map(|block| Some(&part.body[block.open + 1..block.close?]))
        .flatten()
}
