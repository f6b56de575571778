//! What one choice of a backend costs: the pure selection over 1,000 backends, with its reason,
//! beside a plain scan of the same list in the same run.

#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::{
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering},
};

use criterion::Criterion;
use roster::Roster;
use routing::{Index, Selected, Standing, Want};

const TARGETS: usize = 1_000;

/// `spread`: how many prices there are; one price makes all candidates equal, the worst case.
fn roster(spread: usize) -> Roster {
    let one = |at: usize| {
        format!(
            "[[backend]]\nid = \"b{at}\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m{at}\"\ncan_delegate = true\ngood_at = [\"code\", \"t{}\"]\ncost = {{ input_per_mtok = {}, output_per_mtok = 1 }}\n",
            at % 7,
            at % spread,
        )
    };
    Roster::parse(&(0..TARGETS).map(one).collect::<String>()).unwrap()
}

fn select(c: &mut Criterion) {
    let mut group = c.benchmark_group("select_1000_targets");
    let loads: Vec<AtomicU32> = (1..=13).cycle().take(TARGETS).map(AtomicU32::new).collect();
    let standing = |at: usize| Standing { benched: false, load: loads[at].load(Ordering::Relaxed) };
    for (name, spread) in [("ten_prices", 10), ("all_equal", 1)] {
        let roster = roster(spread);
        let index = Index::of(&roster);
        let want = Want::Task("code".to_owned());
        group.bench_function(name, |b| {
            b.iter(|| index.select(&roster, black_box(&want), false, &[], standing).unwrap());
        });
        group.bench_function(format!("{name}_explained"), |b| {
            b.iter(|| match index.select(&roster, black_box(&want), false, &[], standing) {
                Ok(Selected::Pick(pick)) => Index::explain(&roster, &want, pick),
                _ => String::new(),
            });
        });
    }
    let roster = roster(1);
    let index = Index::of(&roster);
    let want = Want::Target("b777".to_owned());
    group.bench_function("named", |b| {
        b.iter(|| index.select(&roster, black_box(&want), false, &[], standing).unwrap());
    });
    group.bench_function("scan_of_1000_loads", |b| {
        b.iter(|| (0..TARGETS).map(|at| standing(black_box(at)).load).min());
    });
    group.finish();
}

/// Runs the group without criterion's own macro, whose function would have no documentation.
fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    select(&mut criterion);
    criterion.final_summary();
}
