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
    cargo bench --bench select
    cargo build --release --workspace --bins
    cargo bench --bench service

# A million random rosters and failures: no automatic decision selects a paid backend.
model-check cases="1000000":
    ADJUTANT_CASES={{ cases }} cargo test --release -p routing --lib g15_

# The protocol's conformance suite, both requirement sets.
conformance:
    .ci/conformance

# Two real agent command lines against a running server.
agents url token:
    ../shared/clients/agent_cli.sh {{ url }} {{ token }}

# Ten minutes of the event-stream fuzzer (needs cargo-fuzz and a nightly toolchain).
fuzz seconds="600":
    cargo fuzz run sse -- -max_total_time={{ seconds }}
