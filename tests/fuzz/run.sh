#!/usr/bin/env bash
# Runs every fuzz target for SECONDS and says how many found nothing:
#
#     tests/fuzz/run.sh SECONDS [TARGET…]
#
# Needs a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz`). A target asserts promises
# of its stage, not only that nothing panics; what it learns stays in target/fuzz/learned. An input
# that breaks a promise lies in target/fuzz/broken: it becomes a unit test beside the fix.
# SANITIZER=address also watches the memory of the C libraries below, at half the speed.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?how many seconds?}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(robots url_key sitemap coding html markdown config)
options=(--fuzz-dir tests/fuzz --target-dir "$PWD/target/fuzz" --sanitizer "${SANITIZER:-none}")

# Where a target begins: files of the project.
seeds() {
    case $1 in
        html) echo tests/fixtures/html config/demo-site ;;
        markdown) echo tests/fixtures/html docs ;;
        config) echo config ;;
        robots | sitemap) echo config/demo-site ;;
        *) ;;
    esac
}

cargo +nightly fuzz build "${options[@]}"
passed=0 failed=0
for target in "${targets[@]}"; do
    learned=target/fuzz/learned/$target broken=target/fuzz/broken/$target
    mkdir -p "$learned" "$broken"
    log=target/fuzz/$target.log
    # shellcheck disable=SC2046
    if cargo +nightly fuzz run "${options[@]}" "$target" "$learned" $(seeds "$target") -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 \
        -dict="tests/fuzz/words/$target" -artifact_prefix="$broken/" >"$log" 2>&1; then
        passed=$((passed + 1))
        sed -n "s/^Done \([0-9]*\) runs in \([0-9]*\).*/$target: \1 inputs in \2 s/p" "$log"
    else
        failed=$((failed + 1))
        echo "$target: broken, see $log"
        grep -aE 'panicked|^  (left|right)|ERROR|Test unit' -A1 "$log" | head -20
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
