//! Any order of moves, against the table of them.

use proptest::{collection::vec, prelude::*, strategy::ValueTree as _, test_runner::TestRunner};

use super::*;

#[tokio::test]
async fn handoffs_move_as_the_table_says_in_any_order() {
    let mut runner = TestRunner::deterministic();
    let strategy = vec((0..7_usize, 0..3_u32), 1..12);
    let cases: Vec<Vec<(usize, u32)>> =
        (0..40).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for case in &cases {
            let id = leave(store, "alpha").await;
            let (mut state, mut holder) = (State::Open, String::new());
            for (step, who) in case {
                let who = format!("s{who}");
                let Some(wanted) = State::ALL.get(*step).copied() else {
                    // The seventh step: a session pulls it by its id.
                    let pulled = pull(store, Wanted::Id(id), &who, true, &all()).await;
                    if state.may_become(State::Consumed) {
                        pulled.unwrap();
                        (state, holder) = (State::Consumed, who);
                    } else if state == State::Consumed && holder == who {
                        pulled.unwrap();
                    } else {
                        assert!(matches!(pulled, Err(Error::Conflict(_))), "{case:?}");
                    }
                    continue;
                };
                let session = Move { to: wanted, by: "t", session: &who, handle: "tmux:x" };
                match shift(store, id, session, &all()).await {
                    Ok(moved) => {
                        assert_eq!(moved.changed, state != wanted, "{case:?}");
                        assert!(state == wanted || state.may_become(wanted), "{case:?}");
                        if moved.changed && wanted == State::Consumed {
                            holder = who;
                        }
                        state = wanted;
                    }
                    Err(Error::Conflict(_)) => {
                        assert!(state != wanted && !state.may_become(wanted), "{case:?}");
                    }
                    Err(other) => panic!("{case:?}: {other:?}"),
                }
                let found = row(store, id).await;
                assert_eq!((found.state, &found.consumed_by), (state, &holder), "{case:?}");
            }
        }
    })
    .await;
}
