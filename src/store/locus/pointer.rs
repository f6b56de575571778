//! The pointer of a locus: a small JSON object in which its owners keep where it is found. Pure.

use serde_json::{Map, Value};

use super::Endpoint;
use crate::store::Error;

/// A pointer, or what is to be merged into one.
pub type Pointer = Map<String, Value>;

/// The longest pointer, in characters of its JSON.
pub(super) const LONGEST: usize = 8_000;

/// Merges key by key: what is given takes the place of what was there, whole; null takes the key
/// away; other keys stay.
///
/// # Errors
/// [`Error::TooLarge`] when the outcome is over 8,000 characters.
pub fn merge(mut pointer: Pointer, patch: &Pointer) -> Result<Pointer, Error> {
    for (key, value) in patch {
        if value.is_null() {
            pointer.shift_remove(key);
        } else {
            pointer.insert(key.clone(), value.clone());
        }
    }
    let length = text(&pointer).chars().count();
    if length > LONGEST {
        return Err(Error::TooLarge(format!(
            "`pointer` would have {length} characters as JSON, and {LONGEST} is the most: take keys away by giving them as null"
        )));
    }
    Ok(pointer)
}

/// The pointer as it is stored.
pub(super) fn text(pointer: &Pointer) -> String {
    Value::Object(pointer.clone()).to_string()
}

/// How a locus is reached by ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The place.
    pub place: Endpoint,
    /// The name of the key to show there; empty when none is named.
    pub key: String,
}

/// The `ssh` member of a pointer (`host`, `user`, `port`, `key`), where it names a place.
pub fn ssh(pointer: &Pointer) -> Option<Ssh> {
    let ssh = pointer.get("ssh")?.as_object()?;
    let text = |name: &str| ssh.get(name).and_then(Value::as_str).unwrap_or_default();
    let port = match ssh.get("port") {
        None | Some(Value::Null) => 22,
        Some(Value::String(port)) if port.is_empty() => 22,
        Some(Value::String(port)) => port.parse().ok()?,
        Some(port) => u16::try_from(port.as_u64()?).ok()?,
    };
    let place = Endpoint::new(text("user"), text("host"), port).ok()?;
    Some(Ssh { place, key: text("key").to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_map, prelude::*};
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Pointer {
        let Value::Object(map) = value else { panic!("no object: {value}") };
        map
    }

    #[test]
    fn null_takes_a_key_away_and_an_object_is_replaced_whole() {
        let old = map(json!({"serve_url": "http://x", "a": {"b": 1, "c": 2}, "keep": [1]}));
        let patch = map(json!({"serve_url": null, "a": {"b": 3}, "absent": null, "new": ""}));
        let merged = merge(old, &patch).unwrap();
        assert_eq!(Value::from(merged), json!({"a": {"b": 3}, "keep": [1], "new": ""}));
    }

    #[test]
    fn a_pointer_is_measured_in_characters_and_after_the_merge() {
        let at = |length: usize| map(json!({ "a": "é".repeat(length - 8) }));
        assert!(merge(Pointer::new(), &at(LONGEST)).is_ok());
        let error = merge(Pointer::new(), &at(LONGEST + 1)).unwrap_err();
        assert!(matches!(&error, Error::TooLarge(words) if words.contains("8000")), "{error}");
        assert!(merge(at(LONGEST), &map(json!({"b": 1}))).is_err());
        assert!(merge(at(LONGEST), &map(json!({"a": null, "b": 1}))).is_ok());
    }

    #[test]
    fn only_a_whole_place_is_one() {
        let found = ssh(&map(json!({"ssh": {"host": "h", "user": "me", "port": "", "key": "k"}})));
        assert_eq!(found.unwrap().place.to_string(), "me@h:22");
        for odd in [
            json!({}),
            json!({"ssh": "me@h"}),
            json!({"ssh": {"host": "", "user": "me"}}),
            json!({"ssh": {"host": "h", "user": "me", "port": 70_000}}),
            json!({"ssh": {"host": "-oProxyCommand=x", "user": "me"}}),
        ] {
            assert_eq!(ssh(&map(odd.clone())), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn merging_says_of_each_key_what_the_patch_or_else_the_old_one_says(
            old in btree_map("[a-e]", 0..9_i64, 0..5),
            patch in btree_map("[a-e]", proptest::option::of(0..9_i64), 0..5),
        ) {
            let of = |value: Value| map(value);
            let merged = merge(of(json!(old)), &of(json!(patch))).unwrap();
            for key in ["a", "b", "c", "d", "e"] {
                let wanted = match patch.get(key) {
                    Some(said) => *said,
                    None => old.get(key).copied(),
                };
                prop_assert_eq!(merged.get(key).and_then(Value::as_i64), wanted);
            }
            let again = merge(merged.clone(), &of(json!(patch))).unwrap();
            prop_assert_eq!(again, merged);
        }
    }
}
