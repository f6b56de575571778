//! The server speaks of tools and their arguments; a person at the command line has commands and
//! flags. Here is which is which.

/// What every command calls otherwise.
const TOOLS: &[(&str, &str)] = &[
    ("`?help=true` and `ts_list` show its schema", "`adjutant tools CATEGORY` shows its arguments"),
    ("`ts_list`", "`adjutant tools`"),
    ("`ts_categories`", "`adjutant tools`"),
    ("`token_list`", "`adjutant token list`"),
];

/// What is a flag of `adjutant delegate`.
const FLAGS: &[(&str, &str)] = &[
    ("`timeout_s`", "`--timeout`"),
    ("`max_tokens`", "`--max-tokens`"),
    ("name a `target` or a `task`", "name a `--target` or a `--task`"),
];

/// The server's words with the commands for the tools in them.
pub(super) fn with_commands(words: &str) -> String {
    put(words, TOOLS)
}

/// The server's words with the flags of `adjutant delegate` for the arguments in them.
pub(super) fn with_flags(words: &str) -> String {
    put(words, FLAGS)
}

fn put(words: &str, pairs: &[(&str, &str)]) -> String {
    pairs.iter().fold(words.to_owned(), |words, (theirs, ours)| words.replace(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_names_is_named_as_the_command_line_does() {
        assert_eq!(
            with_commands("wrong (`?help=true` and `ts_list` show its schema)"),
            "wrong (`adjutant tools CATEGORY` shows its arguments)"
        );
        assert_eq!(
            with_commands("no tool `x`: `ts_list` names those"),
            "no tool `x`: `adjutant tools` names those"
        );
        assert_eq!(
            with_flags("late: raise `timeout_s` or name a `target` or a `task`"),
            "late: raise `--timeout` or name a `--target` or a `--task`"
        );
    }
}
