//! T18: random replies of any size and shape. What is shown is within the limit and whole; what is
//! kept is the reply, byte for byte.

use mcp::{
    Block,
    clip::{Measured, Notice, layout},
};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng},
};

use super::{
    samples::{judge, shape, text},
    *,
};

/// How many replies; `ADJUTANT_T18` at compile time says otherwise (100,000 before a release).
const COUNT: u32 = match option_env!("ADJUTANT_T18") {
    Some(text) => match u32::from_str_radix(text, 10) {
        Ok(count) => count,
        Err(_) => 256,
    },
    None => 256,
};

/// The largest, in bytes.
const LARGEST: usize = 4 << 20;

/// A size: as many small ones as large ones.
fn size(dice: &mut dyn FnMut(usize) -> usize) -> usize {
    let most = 1_usize << dice(23);
    dice(most.min(LARGEST) + 1)
}

/// A reply of a tool: JSON alone, a text of its own with facts, or both.
fn reply(dice: &mut dyn FnMut(usize) -> usize) -> Draft {
    let bytes = size(dice);
    match dice(4) {
        0 => {
            let text = text(dice, bytes);
            let structured = json!({ "status": "ok", "text": text });
            let blocks = vec![Block::Text(text), Block::Text("status=ok".to_owned())];
            Draft { blocks, structured: Some(structured), ..Draft::default() }
        }
        1 => {
            let rows = shape(dice, bytes);
            let structured = json!({ "items": rows });
            Draft {
                blocks: vec![Block::Part("/items")],
                structured: Some(structured),
                ..Draft::default()
            }
        }
        2 => {
            let fault =
                Fault::new(mcp::Code::Upstream, text(dice, bytes)).with("log", shape(dice, 200));
            Draft::failed(&fault)
        }
        _ => {
            let structured = json!({ "reply": shape(dice, bytes), "n": 1 });
            Draft {
                blocks: vec![Block::Part("")],
                structured: Some(structured),
                ..Draft::default()
            }
        }
    }
}

#[tokio::test]
async fn t18_what_is_shown_is_within_the_limit_and_what_is_kept_is_the_reply() {
    let settings = Settings::default();
    let (app, clock, _dir) = world(settings).await;
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut dice = |below: usize| usize::try_from(rng.next_u64() % below as u64).unwrap();
    let dice: samples::Dice<'_> = &mut dice;
    let schema = json!({ "type": "object", "properties": { "status": { "type": "string" }, "text": { "type": "string" }, "n": { "type": "integer" } } });
    let open = schema.as_object().unwrap();
    let (mut clipped, mut bytes) = (0_u32, 0_usize);
    for nth in 0..COUNT {
        let draft = reply(&mut *dice);
        let budget = match dice(3) {
            0 => Budget {
                lines: 10 + dice(400),
                bytes: 1_024 + dice(60_000),
                tokens: 350 + dice(30_000),
            },
            _ => Budget::default(),
        };
        let original = draft.clone();
        let Measured::Over(draft) = draft.measure(Some(budget)) else {
            let shown = original.unbounded();
            assert!(shown.is_within(budget), "{nth}");
            continue;
        };
        clipped += 1;
        let whole = draft.whole("me", "ledger_get");
        bytes += whole.json.len();
        let kept = app.keep(&whole).await.unwrap();
        let notice = Notice::new(&whole, Ok(kept.clone()), true);
        let shown = draft.clip(open, budget, &notice);
        // Within the limit, on the wire.
        let texts: Vec<&str> = shown
            .blocks
            .iter()
            .map(|block| match block {
                Block::Text(text) => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        let mut wire = json!({
            "resultType": "complete",
            "content": texts.iter().map(|text| json!({ "type": "text", "text": text })).collect::<Vec<_>>(),
            "isError": shown.is_error,
        });
        if let Some(structured) = &shown.structured {
            wire["structuredContent"] = structured.clone();
            judge(&schema, structured).unwrap();
        }
        if let Some(meta) = &shown.meta {
            wire["_meta"] = json!({ mcp::clip::META: meta });
        }
        let wire = wire.to_string();
        assert!(
            wire.len() <= budget.bytes && wire.len().div_ceil(3) <= budget.tokens,
            "{nth}: {} of {budget:?}",
            wire.len()
        );
        let lines: usize = texts.iter().map(|text| text.matches('\n').count() + 1).sum();
        assert!(lines <= budget.lines && shown.is_within(budget), "{nth}: {lines} lines");
        serde_json::from_str::<Value>(&wire).unwrap();
        if matches!(original.blocks.first(), Some(Block::Part(_))) && texts.len() > 1 {
            serde_json::from_str::<Value>(texts[0]).unwrap();
        }
        // The whole, byte for byte.
        assert_eq!(original.is_error, whole.is_error);
        let json = original.structured.as_ref().or(original.record.as_ref()).unwrap();
        assert_eq!(whole.json, layout(json), "{nth}");
        assert_eq!(&serde_json::from_str::<Value>(&whole.json).unwrap(), json, "{nth}");
        let mut conn = app.store.read().await.unwrap();
        let found = result::find(&mut conn, "me", &kept.handle, app.store.now()).await.unwrap();
        assert!(
            result::whole(&mut conn, &found, result::Form::Json).await.unwrap() == whole.json,
            "{nth}"
        );
        if let Some(text) = &whole.text {
            assert!(
                &result::whole(&mut conn, &found, result::Form::Text).await.unwrap() == text,
                "{nth}"
            );
            if let Some(Block::Text(first)) = original.blocks.first() {
                assert!(text.starts_with(first.as_str()));
            }
        }
        drop(conn);
        // And in a piece from anywhere.
        let form = whole.text.as_ref().unwrap_or(&whole.json);
        let offset = dice(form.len());
        let piece = ask(&app, "me", budget, json!({ "handle": kept.handle, "offset": offset }))
            .await
            .unwrap();
        let at = |name: &str| usize::try_from(piece[name].as_u64().unwrap()).unwrap();
        assert!(at("start") <= offset && offset - at("start") < 4 && at("end") > at("start"));
        assert_eq!(&form[at("start")..at("end")], piece["text"].as_str().unwrap(), "{nth}");
        clock.pass(std::time::Duration::from_secs(1));
        if nth % 64 == 63 {
            result::prune(&app.store).await.unwrap();
        }
    }
    println!("T18: {COUNT} replies, {clipped} clipped, {} MiB kept", bytes >> 20);
    assert!(clipped > COUNT / 4);
}
