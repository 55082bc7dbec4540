package snapshot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// The cluster of each external service at an egress has the confs of `to` that the reference
// gives it (SPEC 17.4).
func TestEgressConfsOfReference(t *testing.T) {
	oracle.Sequential(t)
	scenarios := uint64(2_000 * fuzz.Soak(t))
	for _, s := range []semantics.Semantics{semantics.Kuma, semantics.Kuma3} {
		t.Run(s.String(), func(t *testing.T) {
			var services, confs atomic.Int64
			oracle.Clusters(t).WithKumaLabels().WithDestinations().ReadBy(s).Compare(t, scenarios, func(scenario *fuzz.Scenario) error {
				set, err := scenario.Load()
				if err != nil {
					return err
				}
				view, err := core.Options{Semantics: s}.NewView(context.Background(), scenario.Kinds(), set)
				if err != nil {
					return err
				}
				state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
				for _, d := range set.Dataplanes {
					want, err := naive.EgressConfs(scenario.Kinds(), set, d.Mesh, d.Namespace, d.Name, naive.Options{Semantics: s.String(), Hub: scenario.Hub()})
					if err != nil {
						return err
					}
					services.Add(int64(len(want)))
					for _, byKind := range want {
						confs.Add(int64(len(byKind)))
					}
					got := map[string]map[string]any{}
					for service, byKind := range state.EgressConfs(view.Dataplane(d.ID)) {
						got[service] = map[string]any{}
						for kind, effective := range byKind {
							got[service][kind] = effective.Conf
						}
					}
					if got, want := canonical(got), canonical(want); got != want {
						return fmt.Errorf("%s\ngot  %s\nwant %s", d.ID, got, want)
					}
				}
				return nil
			})
			t.Logf("%d external services with %d confs", services.Load(), confs.Load())
			if services.Load() < 50 || confs.Load() < 40 {
				t.Errorf("the scenarios have %d external services behind egresses, with %d confs", services.Load(), confs.Load())
			}
		})
	}
}

// Connections that pass to their original destination have the confs that the reference gives them
// (SPEC 11.5, MeshAccessLog).
func TestPassthroughConfsOfReference(t *testing.T) {
	oracle.Sequential(t)
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		t.Run(s.String(), func(t *testing.T) {
			var confs atomic.Int64
			oracle.Clusters(t).WithKumaLabels().WithDestinations().ReadBy(s).Compare(t, uint64(1_000*fuzz.Soak(t)), func(scenario *fuzz.Scenario) error {
				set, err := scenario.Load()
				if err != nil {
					return err
				}
				view, err := core.Options{Semantics: s}.NewView(context.Background(), scenario.Kinds(), set)
				if err != nil {
					return err
				}
				for _, d := range set.Dataplanes {
					for _, kind := range scenario.Kinds().All() {
						want, err := naive.PassthroughConf(scenario.Kinds(), set, d.Mesh, d.Namespace, d.Name, naive.Options{Semantics: s.String(), Kind: kind.Name, Hub: scenario.Hub()})
						if err != nil {
							return err
						}
						var got any
						if e := view.PassthroughConf(view.Dataplane(d.ID), kind.Name, core.Enforced); e != nil {
							got = e.Conf
							confs.Add(1)
						}
						if got, want := canonical(got), canonical(want); got != want {
							return fmt.Errorf("%s %s\ngot  %s\nwant %s", d.ID, kind.Name, got, want)
						}
					}
				}
				return nil
			})
			if confs.Load() < 300 {
				t.Errorf("only %d confs", confs.Load())
			}
		})
	}
}

// canonical returns a value as JSON with sorted keys.
func canonical(v any) string {
	var tree any
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err == nil {
		text, err = json.Marshal(tree)
	}
	if err != nil {
		panic(err)
	}
	return string(text)
}
