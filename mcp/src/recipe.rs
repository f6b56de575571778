//! How to get something done with the tools, as a text that a person or a client asks for by name:
//! the protocol's prompts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Code, Fault, fault::shown};

/// The most bytes of one argument.
const MOST: usize = 32 * 1024;

/// One recipe.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Its name.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it is for, for whoever chooses one.
    pub about: &'static str,
    /// What it takes.
    pub arguments: &'static [Parameter],
    /// The tools that it tells of: who may not call one of them is not shown the recipe.
    pub uses: &'static [&'static str],
    /// The text.
    pub text: fn(&Given) -> String,
    /// The address of a text of the [`Library`](crate::Library) that goes with it.
    pub attached: Option<fn(&Given) -> String>,
}

/// One argument of a recipe.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it says, for whoever fills it in.
    pub about: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// The root of the shelf that completes an argument of this name.
    pub shelf: Option<&'static str>,
}

impl Parameter {
    /// One that must be there.
    pub const fn required(name: &'static str, about: &'static str) -> Self {
        Self { name, about, required: true, shelf: None }
    }

    /// One that may be left out.
    pub const fn optional(name: &'static str, about: &'static str) -> Self {
        Self { name, about, required: false, shelf: None }
    }

    /// Completed by the shelf with this root.
    #[must_use]
    pub const fn of(self, shelf: &'static str) -> Self {
        Self { shelf: Some(shelf), ..self }
    }
}

/// The arguments that were given, each of them there and not blank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<&'static str, String>);

impl Given {
    /// An argument; none where it was left out.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// An argument that must be there; empty where it is not one of the recipe's.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

impl Recipe {
    /// Reads the arguments.
    ///
    /// # Errors
    /// `invalid` for one that is missing or not known, `too_large`; the words name it.
    pub fn given(&self, arguments: &Map<String, Value>) -> Result<Given, Fault> {
        let mut given = Given::default();
        for (name, value) in arguments {
            let known = self.arguments.iter().find(|parameter| parameter.name == name);
            let Some(parameter) = known else {
                let names = self.arguments.iter().map(|parameter| format!("`{}`", parameter.name));
                return Err(Fault::invalid(format!(
                    "`{}` takes no argument `{}`: it takes {}",
                    self.name,
                    shown(name),
                    names.collect::<Vec<_>>().join(", ")
                )));
            };
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            };
            if text.len() > MOST {
                let words = format!(
                    "`{name}` has {} bytes, and may have {MOST}: shorten it, or put it into a ledger",
                    text.len()
                );
                return Err(Fault::new(Code::TooLarge, words));
            }
            if !text.is_empty() {
                given.0.insert(parameter.name, text);
            }
        }
        let is_missing =
            |parameter: &&Parameter| parameter.required && given.get(parameter.name).is_none();
        match self.arguments.iter().find(is_missing) {
            Some(Parameter { name, about, .. }) => {
                Err(Fault::invalid(format!("`{name}` is missing: {about}")))
            }
            None => Ok(given),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RECIPE: Recipe = Recipe {
        name: "split",
        title: "",
        about: "",
        arguments: &[
            Parameter::required("goal", "what is to be reached"),
            Parameter::optional("limits", "what must not happen"),
        ],
        uses: &[],
        text: |given| format!("{} {:?}", given.text("goal"), given.get("limits")),
        attached: None,
    };

    fn given(arguments: &Value) -> Result<Given, Fault> {
        RECIPE.given(arguments.as_object().unwrap())
    }

    #[test]
    fn arguments_are_read_and_what_is_wrong_is_named() {
        let of = |arguments: Value| (RECIPE.text)(&given(&arguments).unwrap());
        assert_eq!(of(json!({ "goal": " ship ", "limits": "" })), "ship None");
        assert_eq!(of(json!({ "goal": 7, "limits": "none" })), "7 Some(\"none\")");
        let words = |arguments: Value| given(&arguments).unwrap_err().message;
        assert_eq!(words(json!({ "goal": " " })), "`goal` is missing: what is to be reached");
        assert_eq!(words(json!({ "limits": "x" })), "`goal` is missing: what is to be reached");
        let unknown = words(json!({ "goal": "x", "gaol": "y" }));
        assert_eq!(unknown, "`split` takes no argument `gaol`: it takes `goal`, `limits`");
        let long = given(&json!({ "goal": "x".repeat(MOST + 1) })).unwrap_err();
        assert_eq!(long.code, Code::TooLarge);
    }
}
