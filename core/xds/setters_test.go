package xds

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/results"
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
	var kept setters
	text := func(o results.Origin) string { return fmt.Sprintf("%p %d", o.Policy, o.Index) }
	for field := range asked {
		got, want := map[string]bool{}, map[string]bool{}
		for _, o := range kept.settersOf(e, field) {
			got[text(o)] = true
		}
		for pointer, o := range e.Fields() {
			if pointer == field || strings.HasPrefix(pointer, field+"/") || strings.HasPrefix(field, pointer+"/") {
				want[text(o)] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s is set by %v, want %v", field, got, want)
		}
	}
}
