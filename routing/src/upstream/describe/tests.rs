use proptest::prelude::*;

use super::*;

fn said(content_type: &str, body: &str) -> String {
    error_body(content_type, body.as_bytes(), &Redactor::default())
}

#[test]
fn the_message_of_an_error_is_found_in_every_usual_form() {
    for body in [
        r#"{"error":{"message":"no such model","type":"x"}}"#,
        r#"{"error":"no such model"}"#,
        r#"{"object":"error","message":"no such model","code":404}"#,
        r#"{"detail":"no such model"}"#,
        r#"{"detail":[{"loc":["body"],"msg":"no such model"}]}"#,
        r#"[{"error":{"code":404,"message":"no such model"}}]"#,
        r#"{"errors":[{"message":"no such model"}]}"#,
        "no such model\n",
    ] {
        assert_eq!(said("application/json", body), "\"no such model\"", "{body}");
    }
}

#[test]
fn d29_a_page_is_told_by_its_title_or_text_and_bounded() {
    let page = "<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>x</body>";
    assert_eq!(said("text/html", page), "an HTML page (text/html): \"502 Bad Gateway\"");
    let page = "<html><script>var x = '<b>no</b>';</script><STYLE>p{}</style><p>Try <b>later</b></p></html>";
    assert_eq!(
        said("text/html; charset=utf-8", page),
        "an HTML page (text/html; charset=utf-8): \"Try later\""
    );
    assert_eq!(said("", "<html></html>"), "an HTML page (no content type) without text");
    let page = format!("<html>{}</html>", "x ".repeat(1_000_000));
    let text = said("text/html", &page);
    assert!(text.chars().count() <= MAX, "{}", text.len());
    assert!(text.contains("x x"), "{text}");
}

#[test]
fn what_may_be_model_text_is_told_by_its_shape() {
    let shape = |body: &str| shape("application/json", body.as_bytes());
    assert_eq!(shape(""), "an empty body");
    assert_eq!(
        shape(r#"{"result":"secret prose","a b":1}"#),
        "a JSON object with keys [result] (+1 more)"
    );
    assert_eq!(shape("[1,2]"), "a JSON list of 2 items");
    assert_eq!(shape("3"), "a bare JSON value");
    assert_eq!(shape(r#"{"choices":[{"mess"#), "JSON cut off after 18 bytes");
    assert_eq!(shape("prose"), "5 bytes of application/json");
    assert_eq!(said("application/json", r#"{"oops":1}"#), "a JSON object with keys [oops]");
}

#[test]
fn a_quotation_is_one_line_with_its_controls_visible() {
    let text = said("text/plain", "a\r\n\x1b[31mred\u{202e}x");
    assert_eq!(text, r#""a \u{1b}[31mred\u{202e}x""#);
}

#[test]
fn d28_a_key_is_taken_out_before_the_text_is_cut() {
    let key = "sk-canary-0123456789";
    let secret = secrecy::SecretString::from(key);
    let redactor = Redactor::new(Some(&secret), &std::collections::BTreeMap::new());
    let text = format!("{} {key}", "x".repeat(MAX_QUOTE - 10));
    for body in [text.clone(), format!("<html>{text}</html>"), format!(r#"{{"error":"{text}"}}"#)] {
        let said = error_body("text/plain", body.as_bytes(), &redactor);
        assert!(!said.contains("sk-"), "{said}");
    }
}

proptest! {
    #[test]
    fn s24_any_body_is_described_within_bounds(body in proptest::collection::vec(any::<u8>(), 0..2000), html in any::<bool>()) {
        let kind = if html { "text/html" } else { "text/plain" };
        prop_assert!(error_body(kind, &body, &Redactor::default()).chars().count() <= MAX);
        prop_assert!(shape(kind, &body).chars().count() <= MAX);
    }

    #[test]
    fn s24_any_text_is_cut_at_a_character(text in "\\PC{0,400}", tags in "(<[a-zé🙂]{0,3}>|\\PC){0,200}", max in 1usize..50) {
        prop_assert!(clip(&text, max).chars().count() <= max);
        prop_assert!(page("text/html", tags.as_bytes(), &Redactor::default()).chars().count() <= MAX);
    }
}
