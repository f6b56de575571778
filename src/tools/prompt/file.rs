//! Files as callers send them. Pure.

use std::collections::HashSet;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mcp::{Fault, schemars::JsonSchema};
use serde::Deserialize;

use crate::untrusted;

/// The file of a prompt that has its text.
pub(super) const TEXT: &str = "prompt.md";

/// The most bytes of a name.
const MOST_NAME: usize = 100;

/// With or without `=` at its end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A file to be submitted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(expecting = "a file as an object with `name` and `b64` or `dataUrl`")]
pub(super) struct Sent {
    /// Its name: letters, digits, `.`, `_` and `-`; anything else becomes `_`. The reply says what
    /// it is called.
    #[serde(default)]
    name: String,
    /// What it is, such as `image/png`, at most 128 characters.
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    /// Its bytes as base64. Give this or `dataUrl`.
    #[serde(default)]
    b64: Option<String>,
    /// Its bytes as `data:image/png;base64,…`.
    #[serde(default, rename = "dataUrl")]
    data_url: Option<String>,
}

impl Sent {
    /// Its bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Fault> {
        let name = untrusted::one_line(&self.name, 60);
        let wrong = |words: &str| {
            Fault::invalid(format!("the file `{name}` {words}; nothing was submitted"))
        };
        let text = match (&self.b64, &self.data_url) {
            (Some(text), None) => text.as_str(),
            (None, Some(url)) => url
                .strip_prefix("data:")
                .and_then(|rest| rest.split_once(','))
                .filter(|(head, _)| head.ends_with(";base64"))
                .map(|(_, text)| text)
                .ok_or_else(|| wrong("has a `dataUrl` that is no `data:…;base64,…`"))?,
            _ => return Err(wrong("needs its bytes once, as `b64` or as `dataUrl`")),
        };
        let packed;
        let text = if text.contains(|c: char| c.is_ascii_whitespace()) {
            packed = text.split_ascii_whitespace().collect::<String>();
            &packed
        } else {
            text
        };
        BASE64.decode(text).map_err(|error| wrong(&format!("is no base64: {error}")))
    }
}

/// The names that files get, in their order: plain ones, each once, and none that of the text.
pub(super) fn names(sent: &[Sent]) -> Vec<String> {
    let mut taken = HashSet::from([TEXT.to_owned()]);
    let mut names = Vec::with_capacity(sent.len());
    for file in sent {
        let mut name = plain(&file.name);
        while !taken.insert(name.clone()) {
            name.insert(0, '_');
        }
        names.push(name);
    }
    names
}

fn plain(given: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let given = given.trim().chars().take(MOST_NAME);
    let mut name: String = given.map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() {
        return "file".to_owned();
    }
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(name: &str, b64: Option<&str>, data_url: Option<&str>) -> Sent {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Sent { name: name.to_owned(), kind: String::new(), b64: own(b64), data_url: own(data_url) }
    }

    #[test]
    fn bytes_come_as_base64_in_either_form() {
        for (b64, url) in [
            (Some("aGVsbG8="), None),
            (Some("aGVsbG8"), None),
            (Some(" aGVs\nbG8= "), None),
            (None, Some("data:text/plain;base64,aGVsbG8=")),
            (None, Some("data:;base64,aGVsbG8")),
        ] {
            assert_eq!(sent("a", b64, url).bytes().unwrap(), b"hello");
        }
        assert_eq!(sent("a", Some(""), None).bytes().unwrap(), b"");
        for (b64, url) in [
            (None, None),
            (Some("aGVsbG8="), Some("data:;base64,aGVsbG8=")),
            (Some("!!!"), None),
            (Some("aGVsbG8=x"), None),
            (None, Some("http://x")),
            (None, Some("data:text/plain,hello")),
            (None, Some("data:text/plain;base64")),
        ] {
            let fault = sent("evil\nname", b64, url).bytes().unwrap_err();
            assert!(fault.message.ends_with("nothing was submitted"), "{}", fault.message);
            assert!(!fault.message.contains('\n'));
        }
    }

    #[test]
    fn names_are_plain_and_each_is_given_once() {
        let given = [
            "a.txt",
            "../../evil.sh",
            "",
            "a.txt",
            "prompt.md",
            " .bashrc",
            "käse/1",
            "..",
            "a.txt",
        ];
        let given: Vec<Sent> = given.iter().map(|name| sent(name, None, None)).collect();
        assert_eq!(
            names(&given),
            [
                "a.txt",
                "_._.._evil.sh",
                "file",
                "_a.txt",
                "_prompt.md",
                "_bashrc",
                "k_se_1",
                "_.",
                "__a.txt"
            ]
        );
    }

    proptest! {
        #[test]
        fn no_name_leads_anywhere(given in prop::collection::vec("\\PC{0,120}", 0..20)) {
            let given: Vec<Sent> = given.iter().map(|name| sent(name, None, None)).collect();
            let names = names(&given);
            let unique: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(unique.len(), names.len());
            for name in names {
                prop_assert!(!name.is_empty() && !name.starts_with('.') && name.len() <= 130);
                prop_assert!(name != TEXT && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)));
            }
        }
    }
}
