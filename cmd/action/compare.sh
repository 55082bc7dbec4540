#!/usr/bin/env bash
# Compares the policies of a change with those of its base, in any CI, in a clone with both:
#
#	BASE=origin/main FILES=policies/ bash compare.sh
#
#	BASE     the revision to compare with
#	FILES    directories and files with resources (default: the repository)
#	EXPORT   what a control plane has stored, such as a nightly "meshmatch get -f k8s:// -o yaml";
#	         FILES are then what is applied to it, and BASE is not needed
#	FAIL_ON  classes that fail, by commas (default: opens,closes)
#	FORMAT   of what is printed: github, md, table, junit, sarif (default: github)
#	SUMMARY  a file to which a summary in Markdown is appended, if it is set
#
# Exit status: 0 no finding of FAIL_ON; 1 there is one; 2 the comparison was not possible.
set -euo pipefail
unset MESHMATCH_FILE # the base is never another input
read -ra files <<<"${FILES:-.}"
IFS=, read -ra classes <<<"${FAIL_ON:-opens,closes}"

base=$(mktemp -d)
trap 'git worktree remove --force "$base/tree" 2> /dev/null || true; rm -rf "$base"' EXIT
arguments=()
for class in "${classes[@]}"; do
	arguments+=(--fail-on "$class")
done
if [ -n "${EXPORT:-}" ]; then
	arguments+=(-f "$EXPORT")
	for file in "${files[@]}"; do
		arguments+=(--apply "$file")
	done
elif [ -n "${BASE:-}" ]; then
	git worktree add --quiet --detach "$base/tree" "$BASE" || exit 2
	for file in "${files[@]}"; do
		[ ! -e "$base/tree/$file" ] || arguments+=(-f "$base/tree/$file")
		arguments+=(--with "$file")
	done
else
	echo "compare.sh: set BASE, such as BASE=origin/main, or EXPORT" >&2
	exit 2
fi

# Positions in files of the base are those in the repository.
compare() { meshmatch diff "${arguments[@]}" -o "$1" | sed "s|$base/tree/||g"; }
status=0
compare "${FORMAT:-github}" || status=$?
if [ -n "${SUMMARY:-}" ] && [ $status -ne 2 ]; then
	compare md >> "$SUMMARY" || [ $? -eq $status ]
fi
exit $status
