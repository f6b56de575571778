//! The rules of documents: pure.

use proptest::prelude::*;

use super::*;

fn refusal(kind: Kind, state: Value) -> String {
    match Document::read(kind, state) {
        Err(Error::Invalid(words)) => words,
        other => panic!("{other:?}"),
    }
}

/// A flow of these nodes and edges.
fn of(nodes: Value, edges: Value) -> Value {
    with(with(json!({ "schema": "flow.v1" }), "nodes", nodes), "edges", edges)
}

fn node(id: &str) -> Value {
    json!({ "id": id, "role": "box", "label": id, "x": 1, "y": 1.5, "w": -2, "h": 0 })
}

fn without(mut value: Value, name: &str) -> Value {
    value.as_object_mut().unwrap().shift_remove(name);
    value
}

fn with(mut value: Value, name: &str, member: Value) -> Value {
    value[name] = member;
    value
}

#[test]
fn each_rule_of_a_flow_is_held_and_the_place_is_named() {
    let edge = |from: &str, to: &str| json!({ "from": from, "to": to });
    let sound = of(json!([node("a"), node("b")]), json!([edge("a", "b"), edge("a", "a")]));
    Document::read(Kind::Flow, sound.clone()).unwrap();
    Document::read(Kind::Flow, without(sound.clone(), "edges")).unwrap();
    Document::read(Kind::Flow, of(json!([]), json!([]))).unwrap();
    let nodes = |node: Value| of(json!([node]), json!([]));
    let edges = |edge: Value| of(json!([node("a")]), json!([edge]));
    for (state, place) in [
        (json!([1]), "`state` must be a JSON object"),
        (json!("words"), "`state` must be a JSON object"),
        (Value::Null, "`state` must be a JSON object"),
        (without(sound.clone(), "schema"), "`schema` must be `flow.v1`"),
        (with(sound.clone(), "schema", json!("flow.v2")), "`schema` must be `flow.v1`"),
        (with(sound.clone(), "schema", json!(null)), "`schema` must be `flow.v1`"),
        (without(sound.clone(), "nodes"), "`nodes` must be a list"),
        (with(sound.clone(), "nodes", json!({})), "`nodes` must be a list"),
        (with(sound.clone(), "edges", json!(null)), "`edges` must be a list"),
        (nodes(json!(5)), "`nodes[0]` must be an object"),
        (nodes(without(node("a"), "id")), "`nodes[0].id` must be a string"),
        (nodes(with(node("a"), "id", json!(5))), "`nodes[0].id` must be a string"),
        (nodes(with(node("a"), "role", json!(null))), "`nodes[0].role` must be a string"),
        (nodes(without(node("a"), "label")), "`nodes[0].label` must be a string"),
        (nodes(with(node("a"), "x", json!("5"))), "`nodes[0].x` must be a finite number"),
        (nodes(with(node("a"), "y", json!(true))), "`nodes[0].y` must be a finite number"),
        (nodes(with(node("a"), "w", json!(null))), "`nodes[0].w` must be a finite number"),
        (nodes(without(node("a"), "h")), "`nodes[0].h` must be a finite number"),
        (of(json!([node("a"), node("a")]), json!([])), "`nodes[1].id` `a` is the id of another"),
        (edges(json!("a")), "`edges[0]` must be an object"),
        (edges(json!({ "from": "a" })), "`edges[0].to` must be a string"),
        (edges(edge("a", "zz")), "`edges[0].to` `zz` is the id of no node"),
        (edges(edge("A", "a")), "`edges[0].from` `A` is the id of no node"),
        (edges(with(edge("a", "a"), "label", json!(5))), "`edges[0].label` must be a string"),
        (with(sound.clone(), "rev", json!("x")), "`rev` must be a whole number"),
        (with(sound.clone(), "rev", json!(1.5)), "`rev` must be a whole number"),
        (with(sound.clone(), "rev", json!(-1)), "`rev` must be a whole number"),
        (with(sound.clone(), "rev", json!(true)), "`rev` must be a whole number"),
        (with(sound.clone(), "rev", json!(1_i64 << 53)), "`rev` must be a whole number"),
        (with(sound.clone(), "rev", json!(1e30)), "`rev` must be a whole number"),
    ] {
        let words = refusal(Kind::Flow, state);
        assert!(words.contains(place) && words.ends_with("nothing was written"), "{words}");
    }
    for (rev, wanted) in [
        (json!(7), 7),
        (json!(7.0), 7),
        (json!(0), 0),
        (json!(MOST_REV), MOST_REV),
        (json!(MOST_REV + 1), 0),
    ] {
        let document = Document::read(Kind::Flow, with(sound.clone(), "rev", rev)).unwrap();
        assert_eq!(document.wanted, wanted);
    }
}

#[test]
fn each_rule_of_a_design_is_held_and_the_place_is_named() {
    let shape = json!({ "x": 1, "y": 1, "w": 1, "h": 1 });
    let of = |shape: Value| json!({ "shapes": [shape] });
    for sound in [
        json!({ "shapes": [] }),
        of(shape.clone()),
        of(with(with(shape.clone(), "role", json!("button")), "label", json!("OK"))),
        with(of(shape.clone()), "schema", json!("wireframe.v1")),
        // A revision means nothing to a design: it is a key like any other.
        with(of(shape.clone()), "rev", json!("x")),
    ] {
        Document::read(Kind::Design, sound).unwrap();
    }
    for (state, place) in [
        (json!({}), "`shapes` must be a list"),
        (json!({ "shapes": null }), "`shapes` must be a list"),
        (with(of(shape.clone()), "schema", json!(null)), "`schema` must be `wireframe.v1`"),
        (with(of(shape.clone()), "schema", json!("flow.v1")), "`schema` must be `wireframe.v1`"),
        (of(json!(null)), "`shapes[0]` must be an object"),
        (of(without(shape.clone(), "h")), "`shapes[0].h` must be a finite number"),
        (of(with(shape.clone(), "role", json!(5))), "`shapes[0].role` must be a string"),
        (of(with(shape.clone(), "label", json!(null))), "`shapes[0].label` must be a string"),
    ] {
        let words = refusal(Kind::Design, state);
        assert!(words.contains(place), "{words}");
    }
}

#[test]
fn what_is_over_a_bound_is_refused_and_what_is_at_it_is_not() {
    let nodes = |count: usize| {
        let nodes: Vec<Value> = (0..count).map(|nth| node(&format!("n{nth}"))).collect();
        of(json!(nodes), json!([]))
    };
    Document::read(Kind::Flow, nodes(MOST_NODES)).unwrap();
    assert!(refusal(Kind::Flow, nodes(MOST_NODES + 1)).contains("`nodes` has 601 members"));
    let shapes = |count: usize| {
        let shape = json!({ "x": 1, "y": 1, "w": 1, "h": 1 });
        json!({ "shapes": vec![shape; count] })
    };
    Document::read(Kind::Design, shapes(MOST_SHAPES)).unwrap();
    assert!(refusal(Kind::Design, shapes(MOST_SHAPES + 1)).contains("`shapes` has 301 members"));

    let padded = |bytes: usize| json!({ "shapes": [], "pad": "x".repeat(bytes) });
    let room = MOST_BYTES - padded(0).to_string().len();
    let largest = Document::read(Kind::Design, padded(room)).unwrap();
    assert_eq!(largest.text.len(), MOST_BYTES);
    let error = Document::read(Kind::Design, padded(room + 1)).unwrap_err();
    assert!(matches!(&error, Error::TooLarge(words) if words.contains("524289")), "{error:?}");
}

/// Any JSON that a caller may send.
fn json_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "schema",
        "flow.v1",
        "wireframe.v1",
        "nodes",
        "edges",
        "shapes",
        "id",
        "role",
        "label",
        "x",
        "y",
        "w",
        "h",
        "from",
        "to",
        "rev",
        "a",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "\\PC{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..8).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// A document that keeps the rules, with keys of its own here and there.
fn sound() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<i32>().prop_map(Value::from), (-1e9..1e9).prop_map(Value::from)];
    let node = ("[a-d]{1,3}", "\\PC{0,8}", prop::collection::vec(number, 4), json_value());
    let nodes = prop::collection::vec(node, 0..6);
    let picks =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6);
    (nodes, picks, prop::option::of(0..MOST_REV), json_value()).prop_map(
        |(nodes, picks, rev, more)| {
            let mut seen = std::collections::BTreeMap::new();
            for (id, label, at, more) in nodes {
                let node = json!({
                    "label": label, "id": id, "w": at[0], "x": at[1], "h": at[2], "y": at[3],
                    "role": "box", "more": more,
                });
                seen.insert(id, node);
            }
            let ids: Vec<&String> = seen.keys().collect();
            let edges: Vec<Value> = picks
                .iter()
                .filter(|_| !ids.is_empty())
                .map(|(from, to)| json!({ "to": from.get(&ids), "from": to.get(&ids) }))
                .collect();
            let nodes: Vec<&Value> = seen.values().collect();
            let mut state =
                json!({ "more": more, "nodes": nodes, "edges": edges, "schema": "flow.v1" });
            if let Some(rev) = rev {
                state["rev"] = rev.into();
            }
            state
        },
    )
}

/// The same value with the members of every object the other way round.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().rev().map(|(name, value)| (name.clone(), turned(value))).collect()
        }
        Value::Array(items) => items.iter().map(turned).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn whatever_comes_is_refused_or_comes_back_as_it_was(state in json_value()) {
        for kind in Kind::ALL {
            let Ok(document) = Document::read(kind, state.clone()) else { continue };
            let back = super::super::document::shown(kind, 7, &document.text).unwrap();
            let wanted = match kind {
                Kind::Design => state.clone(),
                Kind::Flow => with(state.clone(), "rev", json!(7)),
            };
            prop_assert_eq!(back, wanted);
        }
    }

    #[test]
    fn a_sound_flow_is_taken_and_its_form_does_not_depend_on_the_order_of_keys_or_its_rev(
        state in sound(),
    ) {
        let one = Document::read(Kind::Flow, state.clone()).unwrap();
        let two = Document::read(Kind::Flow, turned(&state)).unwrap();
        let three = Document::read(Kind::Flow, without(state.clone(), "rev")).unwrap();
        prop_assert_eq!(&one.text, &two.text);
        prop_assert_eq!(&one.text, &three.text);
        // Another label is another text.
        let other = with(state, "more", json!("something else entirely"));
        prop_assert_ne!(one.text, Document::read(Kind::Flow, other).unwrap().text);
    }

    #[test]
    fn an_edge_to_nowhere_is_never_taken(state in sound(), id in "[x-z]{1,3}", first in any::<bool>()) {
        let mut state = state;
        let loose = if first { json!({ "from": id, "to": id }) } else { json!({ "from": "a", "to": id }) };
        state["edges"].as_array_mut().unwrap().push(loose);
        prop_assert!(Document::read(Kind::Flow, state).is_err());
    }
}
