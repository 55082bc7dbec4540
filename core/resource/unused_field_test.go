package resource_test

import (
	"fmt"
	"strings"
	"testing"
)

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
