package items_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/results"
)

// contributionsOf returns the first `to` item of each policy of a text.
func contributionsOf(t *testing.T, text string) (list []results.Contribution) {
	t.Helper()
	for _, p := range resourcetest.Decode(t, text).Policies {
		list = append(list, results.Contribution{Origin: results.Origin{Policy: p}, Conf: p.To[0].Conf})
	}
	return list
}

// Merged confs with the same content and origins are one pointer (SPEC 6).
func TestMemo(t *testing.T) {
	timeouts := contributionsOf(t, `
{type: MeshTimeout, name: a, spec: {to: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: c, spec: {to: [{default: {connectionTimeout: 2s}}]}}
`)
	unions := contributionsOf(t, `
{type: MeshLoadBalancingStrategy, name: a, spec: {to: [{default: {localityAwareness: {disabled: true}, loadBalancer: {type: RingHash, ringHash: {minRingSize: 5}}}}]}}
---
{type: MeshLoadBalancingStrategy, name: b, spec: {to: [{default: {loadBalancer: {type: RoundRobin}}}]}}
---
{type: MeshLoadBalancingStrategy, name: c, spec: {to: [{default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 9}}}}]}}
`)
	pick := func(list []results.Contribution, at ...int) (some []results.Contribution) {
		for _, i := range at {
			some = append(some, list[i])
		}
		return some
	}
	for name, c := range map[string]struct {
		a, b []results.Contribution
		same bool
	}{
		"the same items":              {pick(timeouts, 0, 2), pick(timeouts, 0, 2), true},
		"an overridden item":          {pick(timeouts, 0, 1, 2), pick(timeouts, 0, 2), true},
		"another item":                {pick(timeouts, 0, 1), pick(timeouts, 0, 2), false},
		"one more item":               {pick(timeouts, 0), pick(timeouts, 0, 1), false},
		"the same items with a union": {pick(unions, 0, 1, 2), pick(unions, 0, 1, 2), true},
		"an overridden union":         {pick(unions, 1, 2), pick(unions, 2), true},
		"an overridden union that hides another's union": {pick(unions, 0, 1, 2), pick(unions, 0, 2), false},
	} {
		t.Run(name, func(t *testing.T) {
			memo, section := items.NewMemo(), c.a[0].Policy.Type.To
			a, b := memo.Merge(section, c.a), memo.Merge(section, c.b)
			if (a == b) != c.same {
				t.Errorf("one pointer: %t, want %t", a == b, c.same)
			}
			for i, want := range []*results.Effective{results.Merge(section.Conf, c.a), results.Merge(section.Conf, c.b)} {
				if got := []*results.Effective{a, b}[i]; !section.Conf.Equal(got.Conf, want.Conf) {
					t.Errorf("conf %d is %v, want %v", i, got.Conf, want.Conf)
				}
			}
		})
	}
	if items.NewMemo().Merge(timeouts[0].Policy.Type.To, nil) != nil {
		t.Error("no items have a conf (SPEC 6)")
	}
}
