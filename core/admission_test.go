package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// An engine validates what a loader decoded, because a program may have changed it in
// between. It does so for a few resources and for many, which it validates in parallel.
func TestChangedAfterDecoding(t *testing.T) {
	for _, n := range []int{2, 400} {
		var file strings.Builder
		for i := range n {
			fmt.Fprintf(&file, "{type: Dataplane, mesh: m, name: d%03d, networking: {address: 10.0.0.1, outbound: [{port: 80, tags: {kuma.io/service: web}}]}}\n---\n", i)
			fmt.Fprintf(&file, "{type: MeshTimeout, mesh: m, name: p%03d, spec: {targetRef: {kind: MeshSubset, tags: {a: b}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}\n---\n", i)
		}
		for name, test := range map[string]struct {
			change func(*resource.Set)
			want   string
		}{
			"nothing": {func(*resource.Set) {}, ""},
			"a conf": {func(s *resource.Set) {
				*s.Policies[n-1].To[0].Conf.(*meshtimeout.Conf).IdleTimeout = conf.Duration(-1e9)
			}, fmt.Sprintf(`mesh.yaml:%d:1: spec.to[0].default.idleTimeout: bad duration "-1s"; it must not be negative`, 4*n-1)},
			"a tag of a targetRef": {func(s *resource.Set) { s.Policies[0].TargetRef.Tags[0].Value = "\xff" },
				`mesh.yaml:3:1: spec.targetRef.tags.a: must be UTF-8, not "\xff"`},
			"a label of a targetRef": {func(s *resource.Set) {
				s.Policies[0].TargetRef = resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: "a", Value: "\xff"}}}
			}, `mesh.yaml:3:1: spec.targetRef.labels.a: must be UTF-8, not "\xff"`},
			"a name of a targetRef": {func(s *resource.Set) { s.Policies[0].TargetRef = resource.Service("\xff") },
				`mesh.yaml:3:1: spec.targetRef.name: must be UTF-8, not "\xff"`},
			"an outbound of one dataplane": {func(s *resource.Set) {
				d := s.Dataplanes[n-1]
				d.Outbounds = append(d.Outbounds, resource.Outbound{Port: 70_000})
			}, fmt.Sprintf(`mesh.yaml:%d:1: networking.outbound[1].port: bad port 70000; a port is a number from 1 to 65535`, 4*n-3)},
			"an inbound": {func(s *resource.Set) { s.Dataplanes[0].Inbounds = []resource.Inbound{{Port: 0}} },
				`mesh.yaml:1:1: networking.inbound[0].port: bad port 0; a port is a number from 1 to 65535`},
		} {
			t.Run(fmt.Sprintf("%s of %d", name, n), func(t *testing.T) {
				set := resourcetest.Decode(t, file.String())
				test.change(set)
				got := ""
				engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
				if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
					got = err.Error()
				}
				if got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			})
		}
	}
}
