//! Bodies in words: what a backend said went wrong, or what its answer looks like, in at most 300
//! characters. A body that may be model text is described by its shape and never quoted.

use serde_json::Value;

use super::redact::Redactor;

/// The longest description, in characters.
pub(super) const MAX: usize = 300;

/// The longest quotation within one, in characters: with a status and a remedy around it the whole
/// message still stays below [`MAX`] or near it.
const MAX_QUOTE: usize = 160;

/// Members of an object that are named, and the longest such name.
const MAX_KEYS: usize = 8;
const MAX_KEY: usize = 40;

/// What the body of an error answer says: its own message, the text of its page, or its shape.
pub(super) fn error_body(content_type: &str, body: &[u8], redactor: &Redactor) -> String {
    let quoted = |text: &str| quote(&redactor.text(text.to_owned()), MAX_QUOTE);
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        return match message(&value) {
            Some(text) => quoted(&text),
            None => shape(content_type, body),
        };
    }
    if is_html(content_type, body) {
        return page(content_type, body, redactor);
    }
    match std::str::from_utf8(body) {
        Ok(text) if !text.trim().is_empty() && !looks_like_json(body) => quoted(text),
        _ => shape(content_type, body),
    }
}

/// What an HTML page says, by its title or else its text.
pub(super) fn page(content_type: &str, body: &[u8], redactor: &Redactor) -> String {
    let text = redactor.text(page_text(&String::from_utf8_lossy(body)));
    let kind = if content_type.is_empty() { "no content type" } else { content_type };
    let kind = quote_bare(kind, MAX_KEY);
    if text.is_empty() {
        return format!("an HTML page ({kind}) without text");
    }
    format!("an HTML page ({kind}): {}", quote(&text, MAX_QUOTE))
}

/// What the body looks like, without a word of what it says.
pub(super) fn shape(content_type: &str, body: &[u8]) -> String {
    if body.is_empty() {
        return "an empty body".to_owned();
    }
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(members)) => {
            let names: Vec<String> =
                members.keys().filter(|key| is_identifier(key)).take(MAX_KEYS).cloned().collect();
            let more = members.len() - names.len();
            let more = if more > 0 { format!(" (+{more} more)") } else { String::new() };
            clip(&format!("a JSON object with keys [{}]{more}", names.join(", ")), MAX)
        }
        Ok(Value::Array(items)) => format!("a JSON list of {} items", items.len()),
        Ok(_) => "a bare JSON value".to_owned(),
        Err(error) if error.is_eof() && looks_like_json(body) => {
            format!("JSON cut off after {} bytes", body.len())
        }
        Err(_) => {
            let kind = if content_type.is_empty() { "no content type" } else { content_type };
            format!("{} bytes of {}", body.len(), quote_bare(kind, MAX_KEY))
        }
    }
}

/// The message in an error object, in the forms that servers use.
pub(super) fn message(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(message),
        Value::Object(members) => {
            ["error", "message", "msg", "detail", "errors", "error_description"]
                .iter()
                .filter_map(|name| members.get(*name))
                .find_map(message)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

pub(super) fn is_html(content_type: &str, body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|s| s.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html") || (content_type.contains("html") && begins(b"<"))
}

fn looks_like_json(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn is_identifier(key: &str) -> bool {
    key.len() <= MAX_KEY
        && !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The title of a page, else its text, with runs of blanks as one.
fn page_text(html: &str) -> String {
    let title = between(html, "<title", "</title").and_then(|tag| Some(tag.split_once('>')?.1));
    let text = match title {
        Some(title) if !title.trim().is_empty() => title.to_owned(),
        _ => stripped(html),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands outside tags, scripts and styles; enough of it for a description.
fn stripped(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        if text.len() > 4 * MAX {
            return text;
        }
        let hidden = ["script", "style"].into_iter().find(|name| {
            tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let tag = match hidden {
            Some(name) => after(tag, &format!("</{name}")),
            None => tag,
        };
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let start = find(text, from)? + from.len();
    let end = find(text.get(start..)?, to)?;
    text.get(start..start + end)
}

fn after<'a>(text: &'a str, what: &str) -> &'a str {
    find(text, what).and_then(|at| text.get(at..)).unwrap_or("")
}

/// Finds ASCII without regard to case.
fn find(text: &str, what: &str) -> Option<usize> {
    let what = what.as_bytes();
    text.as_bytes().windows(what.len()).position(|window| window.eq_ignore_ascii_case(what))
}

/// A foreign text between quotation marks: one line, controls made visible, bounded.
pub(super) fn quote(text: &str, max: usize) -> String {
    format!("\"{}\"", quote_bare(text, max))
}

/// The end of a foreign text, in the same way.
pub(super) fn quote_end(text: &str, max: usize) -> String {
    let text = visible(text, usize::MAX);
    match text.chars().count().checked_sub(max) {
        None | Some(0) => format!("\"{text}\""),
        Some(skip) => format!("\"…{}\"", text.chars().skip(skip + 1).collect::<String>()),
    }
}

fn quote_bare(text: &str, max: usize) -> String {
    // Bounded before a page of megabytes is copied.
    clip(&visible(text, 4 * max), max)
}

/// The words on one line, until so many bytes are reached.
fn visible(text: &str, enough: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
                out.extend(c.escape_unicode());
            } else {
                out.push(c);
            }
        }
        if out.len() > enough {
            break;
        }
    }
    out
}

/// At most so many characters, with a mark where something was left off.
pub(super) fn clip(text: &str, max: usize) -> String {
    if text.char_indices().nth(max).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests;
