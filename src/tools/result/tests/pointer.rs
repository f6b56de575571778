//! Parts of a JSON text.

use mcp::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::pointer::{Part, part};

fn of(json: &str, pointer: &str) -> Result<String, (Code, String)> {
    match part(json, pointer) {
        Ok(Part::Text(text)) => Ok(format!("text:{text}")),
        Ok(Part::Json(json)) => Ok(json),
        Err(fault) => Err((fault.code, fault.message)),
    }
}

#[test]
fn parts_are_named_as_the_standard_says() {
    let json = r#"{"foo":["bar","b\naz"],"":0,"a/b":1,"m~n":8,"n":{"x":[1.10,{"y":"q,]"}],"z":null},"deep":{"k":[]}}"#;
    for (pointer, wanted) in [
        ("/foo", "[\n\"bar\",\n\"b\\naz\"\n]"),
        ("/foo/0", "text:bar"),
        ("/foo/1", "text:b\naz"),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/m~0n", "8"),
        ("/n", "{\n\"x\":[1.10,{\"y\":\"q,]\"}],\n\"z\":null\n}"),
        ("/n/x/0", "1.10"),
        ("/n/z", "null"),
        ("/deep/k", "[]"),
    ] {
        assert_eq!(of(json, pointer).as_deref(), Ok(wanted), "{pointer}");
    }
    for nowhere in
        ["/bar", "/foo/2", "/foo/00", "/foo/+1", "/foo/-", "/foo/x", "/foo/0/x", "/n/z/0", "/a/b"]
    {
        let (code, words) = of(json, nowhere).unwrap_err();
        assert_eq!(code, Code::NotFound);
        assert!(words.contains("`/foo`") && words.contains("`/deep`"), "{words}");
    }
    let (code, words) = of(json, "foo").unwrap_err();
    assert!(code == Code::Invalid && words.contains("begins with `/`"), "{words}");
    assert!(of("[1]", "/x").unwrap_err().1.contains("no object"));
    assert_eq!(of("[1,2]", "").as_deref(), Ok("[\n1,\n2\n]"));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<i32>().prop_map(|n| json!(n)),
        "[\\PC\"\\\\\n\\[\\]{},]{0,12}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map("[a-c/~]{0,3}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Every pointer into a value and what it names.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{nth}"), all);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(member, &format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_pointer_names_what_it_does_elsewhere(value in value(), laid_out in prop::bool::ANY) {
        let json = if laid_out { mcp::clip::layout(&value) } else { value.to_string() };
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        for pointer in all {
            let wanted = value.pointer(&pointer).unwrap();
            match part(&json, &pointer).unwrap() {
                Part::Text(text) => prop_assert_eq!(wanted, &json!(text)),
                Part::Json(json) => {
                    prop_assert_eq!(wanted, &serde_json::from_str::<Value>(&json).unwrap());
                    let rows = wanted.as_array().map(Vec::len)
                        .or(wanted.as_object().map(serde_json::Map::len)).unwrap_or(0);
                    let lines = if rows == 0 { 1 } else { rows + 2 };
                    prop_assert!(json.lines().count() >= lines, "{}", json);
                }
            }
        }
    }
}
