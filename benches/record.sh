#!/usr/bin/env bash
# The figures of records, with the earlier server beside ours: its published package is installed
# once, in a directory of its own under the cache.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.0.111
home=${XDG_CACHE_HOME:-$HOME/.cache}/adjutant-ci/toolserver-$version
[ -x "$home/bin/abstract-toolserver" ] || {
  python3 -m venv "$home"
  "$home/bin/pip" install -q "abstract-toolserver[server]==$version"
}
cargo bench --bench service -- t11 record --earlier "$home/bin/abstract-toolserver" "$@"
