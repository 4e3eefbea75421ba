#!/usr/bin/env bash
# CPU time of whole processes: `pushhost run scripts/notify_users.lua` against `/usr/bin/python3 -c ''`, in turns.
# The goal is a ratio of at most 2.
set -euo pipefail
cd "$(dirname "$0")/.."
exec /usr/bin/python3 Benchmarks/startup.py "${1:-.build/release/pushhost}"
