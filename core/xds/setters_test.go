package xds

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
)

// What is kept is what a visit of all fields finds, for each field, for its parts and for what
// contains it.
func TestSettersThatAreKept(t *testing.T) {
	view := coretest.View(t, `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 81, tags: {kuma.io/service: api}}]}}
---
{type: MeshTimeout, name: a, spec: {to: [{default: {connectionTimeout: 1s, http: {requestTimeout: 2s, streamIdleTimeout: 3s}}}]}}
---
{type: MeshTimeout, name: b, spec: {targetRef: {kind: MeshService, name: web}, to: [{default: {idleTimeout: 4s, http: {requestTimeout: 5s}}}, {targetRef: {kind: MeshService, name: api}, default: {connectionTimeout: 6s}}]}}
`)
	config, err := view.Config(view.Dataplanes("default")[0], "MeshTimeout", core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	e := config.Outbounds[0].Effective
	asked := map[string]bool{"/absent": true, "/http/absent": true, "/http/requestTimeout/part": true}
	for pointer := range e.Fields() {
		for at := pointer; at != ""; at = parentOf(at) {
			asked[at], asked[at+"/part"] = true, true
		}
	}
	if len(asked) < 10 {
		t.Fatalf("fields %v", slices.Sorted(maps.Keys(asked)))
	}
	kept := setters{conf: e, asked: fewQuestions}
	for field := range asked {
		var visited setters
		text := func(s *setters) (list []string) {
			for o := range s.of(e, field) {
				list = append(list, fmt.Sprintf("%p %d", o.Policy, o.Index))
			}
			slices.Sort(list)
			return slices.Compact(list)
		}
		if got, want := text(&kept), text(&visited); !slices.Equal(got, want) {
			t.Errorf("%s is set by %v, want %v", field, got, want)
		}
	}
}
