# What a developer runs. `just` lists the recipes.

default:
    @just --list

# Everything that a change must pass.
ci:
    .ci/run

# The checks that need only this repository.
quick:
    .ci/run quick

test:
    cargo test --workspace

# The figures of `spec/targets.md` that this part of the product has to show, with the machine.
bench:
    cargo bench -p routing --bench select
    cargo bench --bench service

# A crowd of readers of the feed of changes: how soon all are told, and what each costs.
sse readers="10000":
    cargo bench --bench service -- t9 t10 --readers {{ readers }}
# Durable writes and reads of ledgers, and the earlier server beside ours in the same run.
bench-record:
    benches/record.sh

# A million random rosters and failures: no automatic decision selects a paid backend.
model-check cases="1000000":
    ADJUTANT_CASES={{ cases }} cargo test --release -p routing --lib g15_

# Copies of the records while they are written: each is sound and has all that was acknowledged before.
backups rounds="100":
    ADJUTANT_ROUNDS={{ rounds }} cargo test --release --test it t20_

# The server is killed at random moments of mixed writes: nothing acknowledged is lost, nothing is half
# done.
chaos kills="1000":
    ADJUTANT_KILLS={{ kills }} cargo test --release --test it t1_ -- --nocapture

# Claims raced for across two servers over one database, and within one: one winner each.
races rounds="10000":
    ADJUTANT_RACES={{ rounds }} cargo test --release -p adjutant --lib s2_of_many -- --nocapture
    ADJUTANT_RACES={{ rounds }} cargo test --release --test it t3_ -- --nocapture

# Mixed calls while others look the records over and copy them: nobody is told of a lock.
soak seconds="300":
    ADJUTANT_SOAK={{ seconds }} cargo test --release --test it t12_ -- --nocapture

# Random texts and quotations of them: what is verified is in the source, at its offsets.
excerpt-check cases="1000000":
    ADJUTANT_CASES={{ cases }} cargo test --release -p adjutant --lib s35_no_invented

# The protocol's conformance suite, both requirement sets.
conformance:
    .ci/conformance

# Two real agent command lines against a running server.
agents url token:
    ../shared/clients/agent_cli.sh {{ url }} {{ token }}

# Ten minutes of the event-stream fuzzer (needs cargo-fuzz and a nightly toolchain).
fuzz seconds="600":
    cargo fuzz run sse -- -max_total_time={{ seconds }}
