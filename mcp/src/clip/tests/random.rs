//! S25 and T18, over random replies, schemas and budgets.

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng},
};

use super::{
    samples::{instance, judge, schema, text as sample},
    *,
};

/// Dice that fall the same way for the same seed.
fn dice(seed: [u8; 32]) -> impl FnMut(usize) -> usize {
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    move |below| usize::try_from(rng.next_u64() % below as u64).unwrap()
}

fn blocks(dice: &mut dyn FnMut(usize) -> usize, structured: &Value) -> Vec<Block> {
    let image = Block::Image { mime: "image/png".to_owned(), data: "A".repeat(100_000) };
    match dice(5) {
        0 | 1 => vec![Block::Part("")],
        2 => vec![Block::Text(sample(dice, 30_000)), Block::Text("status=ok".to_owned())],
        3 => {
            let bytes = dice(40_000);
            vec![Block::Text(sample(dice, bytes)), Block::Json(structured.clone()), image]
        }
        _ => vec![Block::Part("/p0"), Block::Text("ok=1".to_owned()), image],
    }
}

proptest! {
    // A seed does not shrink to anything smaller.
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// S25: whatever a tool answers, and whatever was promised of it: what goes out is within the
    /// budget, whole JSON, and as the schema says.
    #[test]
    fn s25_an_envelope_is_legal_and_within_its_budget(
        seed in any::<[u8; 32]>(),
        bytes in 1_024..20_000_usize,
        lines in 10..300_usize,
        tokens in 400..20_000_usize,
        stored in any::<bool>(),
    ) {
        let mut dice = dice(seed);
        let schema = schema(&mut dice, 3);
        let structured = instance(&schema, &mut dice, 60_000);
        judge(&schema, &structured).unwrap();
        let budget = Budget { lines, bytes, tokens };
        let draft = Draft {
            blocks: blocks(&mut dice, &structured),
            warnings: (0..dice(3)).map(|at| format!("`x{at}` was ignored")).collect(),
            structured: Some(structured),
            ..Draft::default()
        };
        let whole = draft.clone().unbounded();
        let mut notice = kept();
        if !stored {
            notice.kept = Err("the records cannot be written at this moment".to_owned());
        }
        match draft.measure(Some(budget)) {
            Measured::Fits(shown) => {
                prop_assert_eq!(&shown, &whole);
                holds(&shown, budget);
            }
            Measured::Over(draft) => {
                let roomier = Budget { bytes: bytes.saturating_sub(32), ..budget };
                prop_assert!(!whole.is_within(roomier), "clipped for nothing");
                let images = |shown: &Shown| {
                    let is_image = |block: &&Block| matches!(block, Block::Image { .. });
                    shown.blocks.iter().filter(is_image).count()
                };
                let shown = draft.clone().clip(&map(schema.clone()), budget, &notice);
                holds(&shown, budget);
                prop_assert_eq!(images(&shown), images(&whole));
                let last = shown.blocks.iter().rev().find_map(|block| match block {
                    Block::Text(text) => Some(text),
                    _ => None,
                });
                let (said, other) = if stored { (HANDLE, "not kept") } else { ("not kept", HANDLE) };
                prop_assert!(last.unwrap().contains(said) && !last.unwrap().contains(other));
                let Some(structured) = &shown.structured else {
                    prop_assert!(shown.is_error, "a reply without what was promised");
                    return Ok(());
                };
                prop_assert!(!shown.is_error);
                if let Err(why) = judge(&schema, structured) {
                    panic!("{why}\n{schema}\n{structured}");
                }
                let said = structured.get("_clip").or(shown.meta.as_ref()).unwrap();
                prop_assert_eq!(said.get("handle").is_some(), stored);
                if draft.blocks.first() == Some(&Block::Part("")) && shown.blocks.len() > 1 {
                    let mut bare = structured.clone();
                    bare.as_object_mut().unwrap().shift_remove("_clip");
                    let read: Value = serde_json::from_str(text(&shown, 0)).unwrap();
                    prop_assert_eq!(read, bare);
                }
            }
        }
    }

    /// The same reply is clipped in the same way.
    #[test]
    fn the_clip_is_a_function_of_the_reply(seed in any::<[u8; 32]>()) {
        let mut dice = dice(seed);
        let schema = schema(&mut dice, 3);
        let structured = Some(instance(&schema, &mut dice, 60_000));
        let draft = Draft { blocks: vec![Block::Part("")], structured, ..Draft::default() };
        let budget = Budget::default();
        let clip = || draft.clone().clip(&map(schema.clone()), budget, &kept());
        prop_assert_eq!(clip(), clip());
    }
}
