#!/bin/sh
# format.sh -- make format would change nothing. Another release of clang-format than the one that
# .clang-format was written for breaks lines in other places, so only that one is asked.
set -u
cd "$(dirname "$0")/.." || exit 1
release=14
format=$(command -v clang-format-$release || command -v clang-format)
if [ -z "$format" ] || ! "$format" --version | grep -q "version $release\."; then
    echo "skipped format: there is no clang-format $release"
    exit 0
fi
crooked=$(find . -path ./build -prune -o -name '*.[ch]' -print -o -name '*.cc' -print -o -name '*.hh' -print |
    sort | xargs "$format" --dry-run 2>&1 | sed -n 's/^[.]\/\([^ :]*:[0-9]*\):[0-9]*: warning: .*/\1/p' | sort -u | head -n 5 | tr '\n' ' ')
if [ -n "$crooked" ]; then
    echo "not ok format: run make format; it changes $crooked"
    exit 1
fi
echo "ok format"
