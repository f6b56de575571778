//! Recipients: one, or several.

use std::{borrow::Cow, collections::HashSet, hash::Hash};

use mcp::{
    Code, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Deserialize;

/// The most recipients of one call.
const MOST: usize = 100;

/// Recipients as a caller gave them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum To {
    /// A list.
    Many(Vec<String>),
    /// One, or several with commas between.
    One(String),
}

/// Recipients, each once.
pub(super) struct Recipients<T> {
    /// In the order in which they were named first.
    pub(super) each: Vec<T>,
    /// Whether a list was given: then a list of receipts is answered.
    pub(super) is_list: bool,
}

impl To {
    /// Reads each, and leaves out those that were there before.
    ///
    /// # Errors
    /// For none, for more than 100, and for what `parse` refuses.
    pub(super) fn read<T: Clone + Eq + Hash>(
        &self,
        parse: impl Fn(&str) -> Result<T, Fault>,
    ) -> Result<Recipients<T>, Fault> {
        let listed: Option<Vec<String>> = match self {
            // A list that came as a text: no name begins like that.
            Self::One(text) if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).ok()
            }
            Self::One(_) | Self::Many(_) => None,
        };
        let (texts, is_list): (Vec<&str>, bool) = match (self, &listed) {
            (Self::Many(texts), _) | (_, Some(texts)) => {
                (texts.iter().map(String::as_str).collect(), true)
            }
            (Self::One(text), None) => {
                let texts: Vec<&str> = text.split(',').collect();
                let is_list = texts.len() > 1;
                (texts, is_list)
            }
        };
        if texts.is_empty() {
            return Err(Fault::invalid("`to` is empty: name a locus or `session:<id>`"));
        }
        if texts.len() > MOST {
            let count = texts.len();
            return Err(Fault::new(
                Code::TooLarge,
                format!(
                    "`to` names {count} recipients, and may name {MOST}: send to fewer at once"
                ),
            ));
        }
        let (mut each, mut seen) = (Vec::with_capacity(texts.len()), HashSet::new());
        for text in texts {
            let one = parse(text)?;
            if seen.insert(one.clone()) {
                each.push(one);
            }
        }
        Ok(Recipients { each, is_list })
    }
}

impl JsonSchema for To {
    fn schema_name() -> Cow<'static, str> {
        "To".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::message::Address;

    fn read(to: &To) -> Result<(Vec<String>, bool), Fault> {
        let read = to.read(|text| Ok(Address::parse(text)?))?;
        Ok((read.each.iter().map(ToString::to_string).collect(), read.is_list))
    }

    #[test]
    fn each_recipient_counts_once_whatever_its_spelling() {
        let many = To::Many(["B_c", "a", "b-c", "session:S", "SESSION:s"].map(String::from).into());
        assert_eq!(
            read(&many).unwrap(),
            (vec!["b-c".into(), "a".into(), "session:s".into()], true)
        );
        assert_eq!(read(&To::One("A".into())).unwrap(), (vec!["a".into()], false));
        assert_eq!(read(&To::One("[\"a\"]".into())).unwrap(), (vec!["a".into()], true));
        assert_eq!(read(&To::One("a, b,a".into())).unwrap(), (vec!["a".into(), "b".into()], true));
    }

    #[test]
    fn none_too_many_and_bad_ones_are_refused() {
        assert_eq!(read(&To::Many(Vec::new())).unwrap_err().code, Code::Invalid);
        assert_eq!(read(&To::One(" ".into())).unwrap_err().code, Code::Invalid);
        assert_eq!(read(&To::One("a,/etc".into())).unwrap_err().code, Code::Invalid);
        assert_eq!(read(&To::One("a,".into())).unwrap_err().code, Code::Invalid);
        let many = To::Many(vec!["a".into(); 101]);
        assert_eq!(read(&many).unwrap_err().code, Code::TooLarge);
        let fault = read(&To::One("lease:p".into())).unwrap_err();
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.message.contains("no package leases"), "{}", fault.message);
    }
}
