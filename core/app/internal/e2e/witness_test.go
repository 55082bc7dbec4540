package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// witnessScenarios is how many pairs of random meshes are compared, each inbound of which
// becomes a listener before and one after.
const witnessScenarios = 80

// edit is the permissions of an inbound before and after, and what differs.
type edit struct {
	sides       [2]trial
	differences []access.Difference
}

// A request that a comparison shows as allowed on one side and denied on the other is
// allowed by a real Envoy with the one configuration, and denied with the other.
func TestEnvoyShowsWitnesses(t *testing.T) {
	envoytest.Path(t)
	edits := randomEdits(t)
	ca := envoytest.NewAuthority(t)
	var listeners []object
	for i := range edits {
		for k := range edits[i].sides {
			side := &edits[i].sides[k]
			side.name = fmt.Sprintf("l%d-%d", i, k)
			listeners = append(listeners, listenerOf(t, ca, side.name, side.permissions, printed(t, side.permissions, side.form, side.name+"."), false))
		}
	}
	e := startEnvoy(t, listeners)
	var tried atomic.Int64
	each(len(edits), func(i int) {
		for n, d := range edits[i].differences {
			tried.Add(1)
			for k, want := range []bool{d.Before.Allow, d.After.Allow} {
				side := &edits[i].sides[k]
				c := clientOf(d.Witness)
				how := transportOf(side.permissions.Protocol, c, n)
				if how == http2Raw && slices.Contains(c.Lines, request.Header{Name: "cookie"}) {
					how = http1 // over HTTP/2 it is absent (SPEC 7.2)
				}
				got, err := send(e.ports[side.name], ca.Issue(t, c.Certificate(side.permissions.Clients != nil)...), how, c)
				if err != nil || got.refused || got.allowed != want {
					t.Errorf("%s: %+v by %s: allowed %v, refused %v, %v; the comparison says %v", side.title, c, how, got.allowed, got.refused, err, want)
				}
			}
		}
	})
	if least := len(edits); int(tried.Load()) < least {
		t.Errorf("only %d witnesses were tried, want %d", tried.Load(), least)
	}
}

// clientOf returns the client that sends a witness.
func clientOf(w *access.Witness) *permissiontest.Call {
	c := &permissiontest.Call{SNI: w.SNI, Method: w.Method, Path: w.Path, Tags: w.Tags, Lines: w.Headers}
	if w.SpiffeID != "" {
		c.URIs = []string{w.SpiffeID}
	}
	return withHost(c)
}

// randomEdits returns inbounds whose permissions differ.
func randomEdits(t *testing.T) []edit {
	scenarios := witnessScenarios
	if testing.Short() {
		scenarios /= 10
	}
	var edits []edit
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
		for _, inbound := range []string{"http", "tcp"} {
			e := edit{sides: [2]trial{
				{title: fmt.Sprintf("seed %d/%s/before", seed, inbound), permissions: before[inbound], form: formsOf(t)[0].form},
				{title: fmt.Sprintf("seed %d/%s/after", seed, inbound), permissions: after[inbound], form: formsOf(t)[0].form},
			}}
			space := &access.Space{Protocol: before[inbound].Protocol}
			differences, err := access.Compare(space, access.ListOf(before[inbound]), access.ListOf(after[inbound]), access.Limits{})
			if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
				continue // it is unknown
			} else if err != nil {
				t.Fatal(err)
			}
			if e.differences = differences; len(differences) > 0 {
				edits = append(edits, e)
			}
		}
	}
	return edits
}
