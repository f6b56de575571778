//! One rule at a time: what the text says, and what is said of it.

use super::helpers::{cli, each, errors, extract, openai, warnings};

#[test]
fn what_is_missing_is_named_with_an_example() {
    each(
        &[
            (
                "",
                "1:1: `[[backend]]` has no `id`: add `id = \"coder\"`
                 1:1: `[[backend]]` has no `kind`: add `kind = \"openai\"`
                 1:1: `[[backend]]` has no `tier`: add `tier = \"local\"`",
            ),
            (
                "id = \"a\"\ntier = \"local\"\nkind = \"openai\"",
                "1:1: `[[backend]]` has no `base_url`: add `base_url = \"http://127.0.0.1:8080/v1\"`
                 1:1: `[[backend]]` has no `model`: add `model = \"qwen3-coder-next\"`",
            ),
            (
                "id = \"a\"\ntier = \"sub\"\nkind = \"cli\"",
                "1:1: `[[backend]]` has no `cmd`: add `cmd = [\"claude\", \"-p\", \"{prompt}\"]`",
            ),
            ("id = \"a\"\ntier = \"sub\"\nkind = \"extract\"", ""),
        ],
        |more| format!("[[backend]]\n{more}\n"),
    );
}

#[test]
fn d21_unknown_keys_are_errors_with_the_nearest_right_word() {
    each(
        &[
            (
                "can_delgate = true",
                "7:1: unknown key `can_delgate` in `[[backend]]`: did you mean `can_delegate`?",
            ),
            (
                "  Enabeld = 1",
                "7:3: unknown key `Enabeld` in `[[backend]]`: did you mean `enabled`?",
            ),
            (
                "key_ref = \"none\"",
                "7:1: unknown key `key_ref` in `[[backend]]`: did you mean `key`?",
            ),
            ("rpm = 1", "7:1: unknown key `rpm` in `[[backend]]`: did you mean `limits.rpm`?"),
            (
                "zzz = 1",
                "7:1: unknown key `zzz` in `[[backend]]`: it knows `id`, `tier`, `kind`, \
                 `good_at`, `cost`, `can_delegate`, `enabled`, `limits`, `timeouts`, `retry`, \
                 `base_url`, `model`, `key`, `headers`, `extra` and `stream`",
            ),
            (
                "limits = { concurency = 1 }",
                "7:12: unknown key `concurency` in `limits`: did you mean `concurrency`?",
            ),
            (
                "timeouts = { first_tokens = \"1s\" }",
                "7:14: unknown key `first_tokens` in `timeouts`: did you mean `first_token`?",
            ),
            (
                "retry.atempts = 1",
                "7:7: unknown key `atempts` in `retry`: did you mean `attempts`?",
            ),
            (
                "[backend.cost]\ninput_per_tok = 1",
                "8:1: unknown key `input_per_tok` in `cost`: did you mean `input_per_mtok`?",
            ),
        ],
        openai,
    );
    each(
        &[
            (
                "[[bakend]]\nid = \"a\"\ntier = \"sub\"\nkind = \"extract\"",
                "1:3: unknown key `bakend`: did you mean `[[backend]]`?",
            ),
            (
                "[billing]\nenabled = true",
                "1:2: `billing` is a section of `adjutant.toml`, not of the roster",
            ),
            ("zzz = 1", "1:1: unknown key `zzz`: a roster has `[[backend]]` and `[[endpoint]]`"),
            (
                "[[endpoint]]\nbase_url = \"http://h/v1\"\nconcurrency = 1\nmodel = \"m\"",
                "4:1: unknown key `model` in `[[endpoint]]`: it knows `base_url` and `concurrency`",
            ),
            (
                "[backend]\nid = \"a\"\ntier = \"sub\"\nkind = \"extract\"",
                "1:1: begin each `backend` with `[[backend]]`, in double brackets",
            ),
            ("backend = 3", "1:11: begin each `backend` with `[[backend]]`"),
            ("backend = [3]", "1:12: begin each `backend` with `[[backend]]`"),
        ],
        str::to_owned,
    );
}

#[test]
fn ids_follow_the_pattern() {
    for id in ["a", "0", "a-b_c", &"x".repeat(63)] {
        assert_eq!(errors(&extract("").replace("\"a\"", &format!("\"{id}\""))), [""; 0], "{id}");
    }
    for id in ["", "-a", "_a", "A", "a b", "ä", "a.b", &"x".repeat(64)] {
        let found = errors(&extract("").replace("\"a\"", &format!("\"{id}\"")));
        assert_eq!(found.len(), 1, "{id}");
        let says =
            "2:6: `id` must be 1 to 63 of `a-z`, `0-9`, `-` and `_`, a letter or digit first";
        assert!(found[0].starts_with(says), "{found:?}");
    }
    assert_eq!(
        errors(&extract("").replace("\"a\"", "7")),
        ["2:6: `id` must be a string in quotes, not an integer"]
    );
}

#[test]
fn duplicate_ids_name_the_first_ones_line() {
    let text = format!("{}\n{}{}", extract(""), extract(""), extract("enabled = false"));
    assert_eq!(
        errors(&text),
        [
            "7:6: duplicate `id`: line 2 has `a` already",
            "11:6: duplicate `id`: line 2 has `a` already"
        ]
    );
}

#[test]
fn words_are_one_of_a_few() {
    each(
        &[
            (
                "parse = \"json\"",
                "6:9: `parse` must be `plain`, `claude-json` or `gemini-json`, not `json`",
            ),
            (
                "parse = \"claude_json\"",
                "6:9: `parse` must be `plain`, `claude-json` or `gemini-json`, not `claude_json`: did you mean `claude-json`?",
            ),
            ("parse = 1", "6:9: `parse` must be a string in quotes, not an integer"),
        ],
        cli,
    );
    let text = extract("").replace("local", "free").replace("extract", "openai-compat");
    assert_eq!(
        errors(&text),
        [
            "3:8: `tier` must be `local`, `sub` or `api`, not `free`",
            "4:8: `kind` must be `openai`, `cli` or `extract`, not `openai-compat`: did you mean `openai`?"
        ]
    );
}

#[test]
fn keys_belong_to_kinds() {
    each(
        &[
            (
                "cmd = [\"x\"]",
                "7:1: `cmd` does not belong to kind `openai`, only to `cli`: remove it",
            ),
            (
                "parse = 1",
                "7:1: `parse` does not belong to kind `openai`, only to `cli`: remove it",
            ),
        ],
        openai,
    );
    each(
        &[
            (
                "base_url = 1",
                "6:1: `base_url` does not belong to kind `cli`, only to `openai`: remove it",
            ),
            (
                "key = \"env:A\"",
                "6:1: `key` does not belong to kind `cli`, only to `openai`: remove it",
            ),
            ("model = \"claude\"", ""),
        ],
        cli,
    );
    each(
        &[
            (
                "stream = true",
                "5:1: `stream` does not belong to kind `extract`, only to `openai`: remove it",
            ),
            (
                "key = \"env:A\"",
                "5:1: `key` does not belong to kind `extract`, only to `openai`: remove it",
            ),
            (
                "model = \"m\"",
                "5:1: `model` does not belong to kind `extract`, only to `openai` and `cli`: remove it",
            ),
        ],
        extract,
    );
}

#[test]
fn booleans_are_no_strings() {
    each(
        &[
            (
                "can_delegate = \"false\"",
                "7:16: `can_delegate` must be `true` or `false` without quotes",
            ),
            ("enabled = \"true\"", "7:11: `enabled` must be `true` or `false` without quotes"),
            ("stream = 1", "7:10: `stream` must be `true` or `false`, not an integer"),
        ],
        openai,
    );
}

#[test]
fn numbers_keep_within_bounds() {
    each(
        &[
            (
                "cost = { input_per_mtok = -0.1 }",
                "7:27: `input_per_mtok` must be a price of zero or more US dollars",
            ),
            (
                "cost.output_per_mtok = nan",
                "7:24: `output_per_mtok` must be a price of zero or more US dollars",
            ),
            (
                "cost.cached_input_per_mtok = inf",
                "7:30: `cached_input_per_mtok` must be a price of zero or more US dollars",
            ),
            (
                "cost.input_per_mtok = 1e999",
                "7:23: `input_per_mtok` must be a price of zero or more US dollars",
            ),
            (
                "cost.input_per_mtok = \"1\"",
                "7:23: `input_per_mtok` must be a number without quotes",
            ),
            (
                "cost = \"free\"",
                "7:8: `cost` must be a table such as `{ input_per_mtok = 0.1 }`, not a string",
            ),
            ("limits.concurrency = 0", "7:22: `concurrency` must be 1 or more"),
            ("limits.concurrency = -1", "7:22: `concurrency` must be 1 or more"),
            ("limits.concurrency = 1000001", "7:22: `concurrency` must be 1000000 or less"),
            ("limits.queue = 99999999999999999999999", "7:16: `queue` must be 1000000 or less"),
            ("limits.rpm = 0", "7:14: `rpm` must be 1 or more"),
            ("limits.tpm = 4294967296", "7:14: `tpm` must be 4294967295 or less"),
            (
                "limits.context_tokens = 1.5",
                "7:25: `context_tokens` must be a whole number, not a decimal number",
            ),
            (
                "limits.max_output_tokens = \"8\"",
                "7:28: `max_output_tokens` must be a whole number without quotes",
            ),
            ("retry.attempts = 0", "7:18: `attempts` must be 1 or more"),
        ],
        openai,
    );
}

#[test]
fn d21_times_have_units_and_none_means_none() {
    let timeout = "a time in quotes such as `\"2s\"` or `\"10m\"`, or `\"none\"` for no time-out";
    let found = |value: &str| errors(&openai(&format!("timeouts.idle = {value}")));
    assert_eq!(found("\"none\""), [""; 0]);
    assert_eq!(found("\"1h 30m\""), [""; 0]);
    assert_eq!(found("5"), [format!("7:17: `idle` must be {timeout}, not an integer")]);
    for value in ["\"5\"", "\"\"", "\"5 parsecs\"", "\"-1s\"", "\"None\""] {
        assert_eq!(found(value), [format!("7:17: `idle` must be {timeout}")], "{value}");
    }
    assert_eq!(found("\"0s\""), ["7:17: `idle` must be above zero, or `\"none\"` for no time-out"]);
    for value in ["\"2years\"", "\"99999999999h\""] {
        assert_eq!(found(value), ["7:17: `idle` must be a year or less"], "{value}");
    }
    let wait = "a time in quotes such as `\"250ms\"` or `\"2s\"`";
    assert_eq!(errors(&openai("retry.base = \"none\"")), [format!("7:14: `base` must be {wait}")]);
    assert_eq!(
        errors(&openai("retry.max = 15")),
        [format!("7:13: `max` must be {wait}, not an integer")]
    );
}

#[test]
fn tags_say_something() {
    each(
        &[
            (
                "good_at = [\"a\", 3]",
                "7:17: each of `good_at` must be a string in quotes, not an integer",
            ),
            ("good_at = [\"\"]", "7:12: each of `good_at` must not be empty"),
            ("good_at = [\" a\"]", "7:12: each of `good_at` must not start or end with a space"),
            (
                "good_at = [\"a\\u0007\"]",
                "7:12: each of `good_at` must not contain control characters or line breaks",
            ),
            ("good_at = \"code\"", "7:11: `good_at` must be an array of strings, not a string"),
        ],
        openai,
    );
    assert_eq!(
        warnings(&openai("good_at = [\"a\", \"b\", \"a\"]")),
        ["7:22: `good_at` holds `a` twice"]
    );
}

#[test]
fn d39_a_price_on_an_unpaid_tier_is_a_warning_that_names_the_paid_one() {
    let priced = openai("cost = { input_per_mtok = 0, output_per_mtok = 0.2 }");
    assert_eq!(
        warnings(&priced),
        ["7:8: a price above zero on tier `local`: a backend that is paid by the call has \
          `tier = \"api\"`, and only that tier waits for billing"]
    );
    assert_eq!(warnings(&priced.replace("local", "sub")).len(), 1);
    assert_eq!(warnings(&priced.replace("local", "api")), [""; 0]);
    assert_eq!(warnings(&priced.replace("0.2", "0.0")), [""; 0]);
}

#[test]
fn other_slips_are_warned_of() {
    assert_eq!(
        warnings(&openai("retry.base = \"20s\"")),
        ["7:1: `retry` has a `base` above its `max`: no wait is longer than `max`"]
    );
    assert_eq!(
        warnings(&openai("").replace("http://h/v1", "http://h:8080")),
        ["5:12: `base_url` has no path: most servers answer below `/v1`"]
    );
}
