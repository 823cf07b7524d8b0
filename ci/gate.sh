#!/usr/bin/env bash
# The gate, as the GitHub Action and the GitLab template run it. Set by environment:
#   INSTAR_SYSTEM   what is tested: a name, a file or module:attr
#   INSTAR_GATE     the folder that `instar gate` wrote (default: instar-gate)
#   INSTAR_SCENES   where the pictures are, if not where they were when the gate was made
#   INSTAR_FLAGS    more flags of `instar run`, such as --timeout 60
#   INSTAR_OUT      where results go (default: instar-results)
# Exit status: 0 nothing newly broken, 1 newly broken failures, 2 could not judge.
set -uo pipefail
gate=${INSTAR_GATE:-instar-gate} out=${INSTAR_OUT:-instar-results}
known=(--known "$gate/known-failures.json")
[ -f known-failures.json ] && known+=(--known known-failures.json)
scenes=()
[ -n "${INSTAR_SCENES:-}" ] && scenes=(--scenes "$INSTAR_SCENES")
rm -rf "$out" && mkdir -p "$out"
# The code that the gate's plan names is this repository's own.
# shellcheck disable=SC2086  # flags are several words
instar run --changes "$gate" --system "${INSTAR_SYSTEM:?is not set}" ${scenes[@]+"${scenes[@]}"} "${known[@]}" --trust \
  ${INSTAR_FLAGS:-} --out "$out/run" | tee "$out/report.txt"
status=$?
if [ -f "$out/run/run.sqlite" ]; then
  instar report "$out/run" "${known[@]}" --markdown "$out/summary.md" --html "$out/report.html" \
    --junit "$out/junit.xml" --sarif "$out/results.sarif" --json > "$out/report.json"
fi
exit "$status"
