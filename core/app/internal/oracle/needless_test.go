package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// Without an item that `check` finds to equal what it overrides, or to set nothing, the
// reference makes the same confs (SPEC 13.5).
func TestSoakNeedlessItems(t *testing.T) {
	scenarios := 400 * uint64(fuzz.Soak(t))
	if testing.Short() {
		scenarios /= 10
	}
	for _, as := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma} {
		var equal atomic.Int64
		oracle.AllKinds(t).WithKumaLabels().ReadBy(as).Compare(t, scenarios, func(s *fuzz.Scenario) error { return withoutNeedless(t, s, as, &equal) })
		if equal.Load() == 0 && !testing.Short() {
			t.Errorf("%s: no item equals what it overrides", as)
		}
	}
}

func withoutNeedless(t *testing.T, s *fuzz.Scenario, as semantics.Semantics, equal *atomic.Int64) error {
	set, err := s.Load()
	if err != nil {
		return err
	}
	view, err := (core.Options{Semantics: cmp.Or(as, core.TargetRef)}).NewView(t.Context(), s.Kinds(), set)
	if err != nil {
		return err
	}
	for _, w := range check.New(view, set).Warnings {
		if w.Code != diag.EqualsOverridden && w.Code != diag.OverriddenEverywhere && w.Code != diag.SetsNothing {
			continue
		}
		if w.Code == diag.EqualsOverridden {
			equal.Add(1)
		}
		less, kind, ok := withoutItem(set, &w)
		if !ok {
			continue
		}
		for _, dp := range set.Dataplanes {
			before, err := confsOf(s.Kinds(), set, s.Hub(), dp, as.String())
			if err != nil {
				return err
			}
			after, err := confsOf(s.Kinds(), less, s.Hub(), dp, as.String())
			if err != nil {
				return err
			}
			onlyOf(kind, before)
			onlyOf(kind, after)
			if diff := fuzz.Difference(before, after); diff != "" {
				return fmt.Errorf("%s: without %s the confs of %s differ, %s", as, w.Line(), dp.Name, diff)
			}
		}
	}
	return nil
}

// withoutItem returns a set without the item of a warning, and the kind of its policy; ok
// is false for an item of `from`, whose confs are not compared.
func withoutItem(set *resource.Set, w *diag.Diagnostic) (less *resource.Set, kind string, ok bool) {
	copied := *set
	copied.Policies = slices.Clone(set.Policies)
	for i, p := range set.Policies {
		policy := *p
		var index int
		switch {
		case scan(w.Path, "spec.to[%d]", &index) && len(p.To) > index && p.To[index].Pos == w.Pos:
			policy.To = slices.Delete(slices.Clone(p.To), index, index+1)
		case scan(w.Path, "spec.rules[%d]", &index) && len(p.Rules) > index && p.Rules[index].Pos == w.Pos:
			policy.Rules = slices.Delete(slices.Clone(p.Rules), index, index+1)
		case w.Path == "spec.default" && p.Default != nil && p.DefaultPos == w.Pos:
			policy.Default = nil
		default:
			continue
		}
		if role, _ := semantics.RoleOf(p, false); len(policy.To) < len(p.To) {
			if without, _ := semantics.RoleOf(&policy, false); without != role {
				return nil, "", false // Kuma derives the role from the items
			}
		}
		copied.Policies[i] = &policy
		return &copied, p.Kind, true
	}
	return nil, "", false
}

// onlyOf removes the confs of other kinds, to which a route that sets nothing may add places,
// and empty ones, which an item without fields makes.
func onlyOf(kind string, confs map[string]any) {
	for key, conf := range confs {
		if fields, ok := conf.(map[string]any); ok && len(fields) == 0 || !strings.HasPrefix(key, kind+" ") {
			delete(confs, key)
		}
	}
}

func scan(path, format string, index *int) bool {
	n, err := fmt.Sscanf(path, format, index)
	return err == nil && n == 1
}
