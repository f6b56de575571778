//! What a `cli` backend needs: its command, how its output is read, what it must not see.

use std::path::Path;

use crate::{
    Cli, KeyRef, Parse,
    field::{Field, Fields},
    notes::{Notes, shown},
};

/// Where the prompt goes in an argument vector.
const PROMPT: &str = "{prompt}";
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"];

/// Reads the keys of kind `cli`.
pub(crate) fn cli(fields: &Fields<'_>, notes: &mut Notes) -> Option<Cli> {
    let example = "cmd = [\"claude\", \"-p\", \"{prompt}\"]";
    let cmd = fields.require("cmd", example, notes).and_then(|field| command(field, notes));
    let parse = fields.get("parse").and_then(|field| {
        let words = [
            ("plain", Parse::Plain),
            ("claude-json", Parse::ClaudeJson),
            ("gemini-json", Parse::GeminiJson),
        ];
        field.choice(&words, notes)
    });
    let scrub_env = fields.get("scrub_env").and_then(|field| variables(field, notes));
    let model = fields.get("model").and_then(|field| field.line(notes));
    Some(Cli {
        cmd: cmd?,
        parse: parse.unwrap_or(Parse::Plain),
        scrub_env: scrub_env.unwrap_or_default(),
        model: model.map(ToOwned::to_owned),
    })
}

fn command(field: Field<'_>, notes: &mut Notes) -> Option<Vec<String>> {
    let elements = field.elements("strings", notes)?;
    let Some(program) = elements.first() else {
        return field.bad("must not be empty: begin with the program", notes);
    };
    let mut cmd = Vec::with_capacity(elements.len());
    for element in &elements {
        let Some(argument) = element.string(notes) else { continue };
        if argument.contains('\0') {
            element.bad::<()>("must not contain a zero character", notes);
        }
        cmd.push(argument.to_owned());
    }
    let name = program.value.as_str()?;
    if name.trim().is_empty() {
        return field.bad("must begin with the program, not with an empty string", notes);
    }
    if name.contains(PROMPT) {
        return field.bad("must begin with the program, not with `{prompt}`", notes);
    }
    if runs_prompt(name, &cmd) {
        let what = "`cmd` puts `{prompt}` inside a shell's script, where a prompt can run commands: \
                    give it as an argument of its own and use `\"$0\"` in the script";
        notes.warn(field.at, what);
    }
    Some(cmd)
}

/// Whether a shell is given the prompt as part of its script.
fn runs_prompt(program: &str, cmd: &[String]) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    let takes_script = |option: &str| {
        option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
    };
    name.is_some_and(|name| SHELLS.contains(&name))
        && cmd.windows(2).any(|pair| {
            matches!(pair, [option, script] if takes_script(option) && script.contains(PROMPT))
        })
}

fn variables(field: Field<'_>, notes: &mut Notes) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for element in field.elements("names of environment variables", notes)? {
        let Some(name) = element.string(notes) else { continue };
        if KeyRef::is_variable(name) {
            names.push(name.to_owned());
        } else {
            let what = format!("must name an environment variable, which `{}` cannot", shown(name));
            element.bad::<()>(what, notes);
        }
    }
    Some(names)
}
