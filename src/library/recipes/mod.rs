//! How an orchestrator gets things done with the tools, as texts to be asked for by name: the
//! prompts of the Model Context Protocol. Pure: one file a recipe, one line a recipe.
//!
//! Each names tools that exist, with arguments that they take; a test holds that.

mod ask_b;
mod fan_out;
mod split_work;
mod summarise;
mod take_over;
mod verify;

use mcp::Recipe;

use super::ledger;

/// Every recipe, in the order in which they are listed.
pub const RECIPES: &[Recipe] = &[
    split_work::RECIPE,
    fan_out::RECIPE,
    verify::RECIPE,
    summarise::RECIPE,
    ask_b::RECIPE,
    take_over::RECIPE,
];

/// A text that somebody gave, set apart from what is said about it: a fence that is longer than any
/// in it.
fn quoted(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// A part with its heading, where there is something to say.
fn part(heading: &str, text: Option<&str>) -> String {
    text.map(|text| format!("\n\n{heading}:\n{}", quoted(text))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn each_recipe_is_whole_with_all_its_arguments_and_with_those_that_it_must_have() {
        for recipe in RECIPES {
            let of = |all: bool| {
                let wanted = recipe.arguments.iter().filter(|one| all || one.required);
                let arguments: Map<_, _> = wanted
                    .map(|one| (one.name.to_owned(), json!(format!("its-{}", one.name))))
                    .collect();
                (recipe.text)(&recipe.given(&arguments).unwrap())
            };
            let (short, long) = (of(false), of(true));
            for parameter in recipe.arguments {
                let said = format!("its-{}", parameter.name);
                assert!(long.contains(&said), "{}: {said}", recipe.name);
                assert_eq!(short.contains(&said), parameter.required, "{}: {said}", recipe.name);
                assert!(parameter.about.len() > 10, "{}.{}", recipe.name, parameter.name);
            }
            assert!(short.len() > 400 && short.len() < 4_000, "{}: {}", recipe.name, short.len());
            assert!(!recipe.about.is_empty() && recipe.title != recipe.name);
            for tool in recipe.uses {
                assert!(
                    short.contains(&format!("`{tool}`")),
                    "{} does not tell of {tool}",
                    recipe.name
                );
            }
        }
    }

    #[test]
    fn no_text_ends_its_own_fence() {
        assert_eq!(quoted("a"), "```text\na\n```");
        let text = "x\n```sh\nls\n```\n````";
        let quoted = quoted(text);
        assert!(quoted.starts_with("`````text\n") && quoted.ends_with("\n`````"));
    }
}
