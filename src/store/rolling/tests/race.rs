//! Many rolls of one locus at once.

use tokio::task::JoinSet;

use super::*;

/// Exchanges that are recorded while others roll, three at each moment.
const RECORDED: i64 = 120;
const ROLLERS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn of_rolls_at_once_none_folds_what_another_folds_and_nothing_is_left_out() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tasks = JoinSet::new();
        for nth in 0..ROLLERS {
            let store = store.clone();
            tasks.spawn(async move {
                let ask = Ask { force: nth % 2 == 0, since: None };
                loop {
                    match roll(&store, &locus("alpha"), ask).await {
                        Ok(Rolled::Added(row, _)) if row.state.objective.ends_with(" 119.") => break,
                        Ok(Rolled::Same(Some(row))) if row.state.objective.ends_with(" 119.") => break,
                        // A roll that others were in the way of at each try is told so.
                        Ok(_) | Err(Error::Retry) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            });
        }
        for nth in 0..RECORDED {
            said(store, nth / 3, &format!("Do the thing number {nth}."), "").await;
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let mut conn = store.read().await.unwrap();
        let text = "SELECT n_exchanges, upto_ts, upto_id FROM rolling WHERE locus = 'alpha' ORDER BY id";
        let rows = conn.sql(text).all().await.unwrap();
        let (mut before, mut folded) = (START, 0);
        for row in &rows {
            let count: i64 = row.get(0).unwrap();
            let upto = Position { ts: row.get(1).unwrap(), id: row.get(2).unwrap() };
            let between = conn
                .sql("SELECT count(*) FROM exchanges WHERE (ts, id) > ($1, $2) AND (ts, id) <= ($3, $4)")
                .bind(before.ts)
                .bind(before.id)
                .bind(upto.ts)
                .bind(upto.id)
                .one()
                .await
                .unwrap();
            assert_eq!(between.get::<i64>(0).unwrap(), count, "between {before:?} and {upto:?}");
            folded += count;
            before = upto;
        }
        assert_eq!(folded, RECORDED);
    })
    .await;
}

/// Many record at once, at whatever moment that is, while others roll: on PostgreSQL one whose moment
/// is earlier may be committed later, and is folded all the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_recorded_while_others_roll_is_folded_once_however_late_it_is_committed() {
    const RECORDERS: i64 = 8;
    const EACH: i64 = 15;
    on_both(async |fixture: &Fixture| {
        let real = Store::open(&fixture.place, crate::clock::Clock::system()).await;
        // SQLite has one server; PostgreSQL takes another one with a clock that runs.
        let store = real.unwrap_or_else(|_| fixture.store.clone());
        let mut recorders = JoinSet::new();
        for recorder in 0..RECORDERS {
            let store = store.clone();
            recorders.spawn(async move {
                for nth in 0..EACH {
                    let prompt = format!("Do {recorder} and {nth}.");
                    record_at(&store, 0, &prompt, "", None).await;
                }
            });
        }
        let mut rollers = JoinSet::new();
        for _ in 0..4 {
            let store = store.clone();
            rollers.spawn(async move {
                for _ in 0..30 {
                    let rolled = roll(&store, &locus("alpha"), Ask::default()).await;
                    assert!(matches!(rolled, Ok(_) | Err(Error::Retry)), "{rolled:?}");
                }
            });
        }
        while let Some(done) = recorders.join_next().await {
            done.unwrap();
        }
        while let Some(done) = rollers.join_next().await {
            done.unwrap();
        }
        while let Rolled::Added(..) = rolled(&store, Ask::default()).await {}
        let mut conn = store.read().await.unwrap();
        let text = "SELECT sum(n_exchanges)::bigint FROM rolling WHERE locus = 'alpha'";
        let text = conn.pick("SELECT sum(n_exchanges) FROM rolling WHERE locus = 'alpha'", text);
        let folded: i64 = conn.sql(text).one().await.unwrap().get(0).unwrap();
        assert_eq!(folded, RECORDERS * EACH);
    })
    .await;
}

/// A time that is ahead of the server's would hide what others record until then.
#[tokio::test]
async fn what_claims_to_be_of_the_future_hides_nothing_from_the_next_roll() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        record_at(store, 253_402_300_799 * SECOND, "Do one.", "", None).await;
        assert_eq!(added(store, Ask::default()).await.upto.ts, tests::MIDNIGHT);
        fixture.clock.pass(std::time::Duration::from_secs(1));
        record_at(store, 0, "Do two.", "", None).await;
        assert_eq!(added(store, Ask::default()).await.exchanges, 1);
    })
    .await;
}
