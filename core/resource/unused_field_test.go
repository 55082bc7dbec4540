package resource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The fields of a Mesh that proxies do not get are reported, in both spellings.
func TestUnusedFieldsOfMesh(t *testing.T) {
	fields := `
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
meshServices: {mode: Exclusive}
routing: {zoneEgress: true}
networking: {outbound: {passthrough: false}}
skipCreatingInitialPolicies: ["*"]
constraints: {}
logging: {backends: []}
metrics: {backends: []}
tracing: {backends: []}
`
	want := `constraints: the field constraints of a Mesh has no effect here; the input has it 2 times
logging: the field logging of a Mesh has no effect here; use MeshAccessLog; the input has it 2 times
metrics: the field metrics of a Mesh has no effect here; use MeshMetric; the input has it 2 times
mtls: the field mtls of a Mesh gives no certificates to proxies; use MeshIdentity; the input has it 2 times
routing: the field routing of a Mesh has no effect here, except that external services may not be reached; the input has it 2 times
tracing: the field tracing of a Mesh has no effect here; use MeshTrace; the input has it 2 times`
	for name, text := range map[string]string{
		"":      "type: Mesh\nname: a" + fields + "---\ntype: Mesh\nname: b" + fields,
		"spec.": "apiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: a}\nspec:" + strings.ReplaceAll(fields, "\n", "\n  ") + "\n---\ntype: Mesh\nname: b" + fields,
	} {
		set, errs := decode(t, text)
		if errs != "" {
			t.Fatal(errs)
		}
		var got []string
		for _, w := range set.Warnings {
			path, found := strings.CutPrefix(w.Path, name)
			if !found {
				t.Errorf("the path is %s", w.Path)
			}
			got = append(got, fmt.Sprintf("%s: %s; %s", path, w.What, w.Hint))
		}
		slices.Sort(got)
		if got := strings.Join(got, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// A field of dataplanes that has no effect is reported once in a load, at its
// first place.
func TestUnusedFieldsAreReportedOnce(t *testing.T) {
	var docs []string
	for i := range 3000 {
		networking := "{address: a}"
		if i >= 100 {
			networking = "{address: a, admin: {port: 1}}"
		}
		docs = append(docs, fmt.Sprintf("{type: Dataplane, name: d%04d, networking: %s, labels: {padding: %s}}\n", i, networking, strings.Repeat("x", 50)))
	}
	set, errs := decode(t, strings.Join(docs, "---\n"))
	if errs != "" {
		t.Fatal(errs)
	}
	if len(set.Warnings) != 1 {
		t.Fatalf("%d warnings", len(set.Warnings))
	}
	want := "in.yaml:201:64: networking.admin: the field admin of a Dataplane has no effect here; the input has it 2900 times"
	if got := set.Warnings[0].Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
