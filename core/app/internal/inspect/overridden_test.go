package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A rule never applies after a rule with the same match, in whatever spelling.
func TestCheckOfARuleAfterItsMatch(t *testing.T) {
	view := viewOf(t, allowAll, `
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}
---
type: MeshTimeout
name: a
spec:
  rules:
    - matches: [{headers: [{name: x-one, value: "1"}]}]
      default: {idleTimeout: 1s}
---
type: MeshTimeout
name: z
spec:
  rules:
    - matches: [{headers: [{name: X-One, type: Exact, value: "1"}]}, {method: GET}]
      default: {idleTimeout: 2s}
`)
	var got []string
	for _, w := range check.New(view, &resource.Set{}).Warnings {
		got = append(got, w.Error())
	}
	want := []string{`file1:10:7: spec.rules[0]: sets nothing for any request to the inbounds that MeshTimeout "a" selects; other rules override it whole; remove it or change the order`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
