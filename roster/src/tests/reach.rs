//! The rules of how a backend is reached: servers, keys, headers, bodies, commands.

use super::helpers::{cli, each, errors, openai, warnings};
use crate::Roster;

#[test]
fn urls_are_servers() {
    let text = |url: &str| openai("").replace("\"http://h/v1\"", url);
    each(
        &[
            ("\"h/v1\"", "5:12: `base_url` must start with `http://` or `https://`"),
            ("\"ftp://h/v1\"", "5:12: `base_url` must start with `http://` or `https://`"),
            (
                "\"http://u:secret@h/v1\"",
                "5:12: `base_url` must not contain a user or a password: name the key with `key`",
            ),
            (
                "\"http://h/v1?k=secret\"",
                "5:12: `base_url` must not contain `?` or `#`: it ends before `/chat/completions`",
            ),
            (
                "\"http://\"",
                "5:12: `base_url` must name a host, such as `http://127.0.0.1:8080/v1`",
            ),
            ("8080", "5:12: `base_url` must be a string in quotes, not an integer"),
        ],
        text,
    );
}

#[test]
fn d28_an_inline_key_is_refused_and_never_repeated() {
    for key in [
        "sk-secret",
        "none",
        "",
        "ENV:secret",
        "env:sk-secret",
        "env:",
        "env:a b",
        "file:",
        "file: ",
    ] {
        let found = errors(&openai(&format!("key = \"{key}\"")));
        assert_eq!(found.len(), 1, "{key}");
        assert!(found[0].starts_with("7:7: `key` must "), "{found:?}");
        assert!(!found[0].contains("secret"), "{found:?}");
    }
    assert_eq!(
        errors(&openai("key = \"sk-secret\"")),
        [
            "7:7: `key` must be `env:NAME` or `file:PATH`: a key itself does not belong into the roster"
        ]
    );
    assert_eq!(
        warnings(&openai("key = \"file:secret.key\"")),
        [
            "7:7: `key` names a file relative to where the server was started: begin the path with `/` or `~/`"
        ]
    );
}

#[test]
fn d28_header_values_are_never_shown() {
    each(
        &[
            ("headers = { \"x y\" = \"v\" }", "7:13: `x y` cannot be the name of a header"),
            ("headers = { \"\" = \"v\" }", "7:13: `` cannot be the name of a header"),
            (
                "headers = { x = \"sec\\nret\" }",
                "7:17: header `x` has a value with characters that no header may have",
            ),
            ("headers = { x = 1 }", "7:17: `x` must be a string in quotes, not an integer"),
            (
                "headers = { X = \"1\", x = \"2\" }",
                "7:22: header `x` is given twice: case does not count",
            ),
            (
                "headers = { Host = \"h\" }",
                "7:13: header `Host` is set by the client itself: remove it",
            ),
            (
                "key = \"env:K\"\nheaders = { Authorization = \"Basic eDp5\" }",
                "8:13: header `Authorization` and `key` exclude each other: keep one",
            ),
            (
                "headers = [\"a\"]",
                "7:11: `headers` must be a table such as `{ \"x-team\" = \"infra\" }`, not an array",
            ),
        ],
        openai,
    );
    let roster = Roster::parse(&openai("headers = { X-Key = \"hunter2\" }")).unwrap();
    assert!(!format!("{roster:?}").contains("hunter2"));
    assert!(format!("{roster:?}").contains("x-key"));
}

#[test]
fn extra_leaves_the_call_alone() {
    each(
        &[
            (
                "extra = { model = \"m\" }",
                "7:11: `extra` must not hold `model`: set `model` beside it",
            ),
            (
                "[backend.extra]\nmessages = []\nstream = true",
                "8:1: `extra` must not hold `messages`: they come from the call\n9:1: `extra` must not hold `stream`: set `stream` beside it",
            ),
            (
                "extra = { a = 1979-05-27 }",
                "7:15: `a` must not hold a date or time: put it in quotes",
            ),
            (
                "extra = { a = { b = [1, nan] } }",
                "7:25: each of `b` must hold numbers that JSON has a form for",
            ),
            (
                "extra = { a = 99999999999999999999 }",
                "7:15: `a` must not hold a number of more than 64 bits",
            ),
            (
                "extra = 1",
                "7:9: `extra` must be a table such as `{ temperature = 0.2 }`, not an integer",
            ),
        ],
        openai,
    );
}

#[test]
fn commands_begin_with_a_program() {
    let text = |cmd: &str| cli("").replace("[\"claude\"]", cmd);
    each(
        &[
            ("[]", "5:7: `cmd` must not be empty: begin with the program"),
            ("[\"\"]", "5:7: `cmd` must begin with the program, not with an empty string"),
            ("[\"{prompt}\"]", "5:7: `cmd` must begin with the program, not with `{prompt}`"),
            ("\"claude -p\"", "5:7: `cmd` must be an array of strings, not a string"),
            ("[\"a\", 1]", "5:13: each of `cmd` must be a string in quotes, not an integer"),
            ("[\"a\", \"\\u0000\"]", "5:13: each of `cmd` must not contain a zero character"),
        ],
        text,
    );
    each(
        &[
            (
                "scrub_env = [\"A=B\"]",
                "6:14: each of `scrub_env` must name an environment variable, which `A=B` cannot",
            ),
            (
                "scrub_env = [1]",
                "6:14: each of `scrub_env` must be a string in quotes, not an integer",
            ),
        ],
        cli,
    );
    let shell = "5:7: `cmd` puts `{prompt}` inside a shell's script, where a prompt can run commands: \
                 give it as an argument of its own and use `\"$0\"` in the script";
    for (cmd, warned) in [
        ("[\"/bin/sh\", \"-c\", \"echo {prompt}\"]", true),
        ("[\"bash\", \"-lc\", \"llm {prompt}\"]", true),
        ("[\"/bin/sh\", \"-c\", \"echo $0\", \"{prompt}\"]", false),
        ("[\"claude\", \"-c\", \"{prompt}\"]", false),
    ] {
        assert_eq!(warnings(&text(cmd)) == [shell], warned, "{cmd}");
    }
}

#[test]
fn endpoints_are_one_for_each_server() {
    let endpoint = "[[endpoint]]\nbase_url = \"HTTP://H:80/v1/\"\nconcurrency = 2\n";
    assert_eq!(
        errors(&openai(&format!(
            "{endpoint}{}",
            endpoint.replace("HTTP://H:80/v1/", "http://h/v1")
        ))),
        ["11:12: duplicate `base_url`: line 8 has `http://h/v1` already"]
    );
    each(
        &[
            (
                "",
                "7:1: `[[endpoint]]` has no `base_url`: add `base_url = \"http://127.0.0.1:8080/v1\"`\n7:1: `[[endpoint]]` has no `concurrency`: add `concurrency = 4`",
            ),
            (
                "base_url = \"x\"\nconcurrency = 0",
                "8:12: `base_url` must start with `http://` or `https://`\n9:15: `concurrency` must be 1 or more",
            ),
        ],
        |more| openai(&format!("[[endpoint]]\n{more}")),
    );
    assert_eq!(warnings(&openai(endpoint)), [""; 0]);
    assert_eq!(
        warnings(&openai("[[endpoint]]\nbase_url = \"http://h\"\nconcurrency = 2\n")),
        ["8:12: no backend has this `base_url`, but one has `http://h/v1`"]
    );
    assert_eq!(
        warnings(&openai("[[endpoint]]\nbase_url = \"http://other/v1\"\nconcurrency = 2\n")),
        ["8:12: no backend has this `base_url`: the limit has no effect"]
    );
}
