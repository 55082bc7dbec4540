package core_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// mined is a Conf type whose code panics while it is armed.
type mined struct {
	resource.ConfType
	merging, comparing *atomic.Bool
}

func (m mined) NewMerger() resource.Merger {
	if m.merging.Load() {
		panic("the merger is broken")
	}
	return m.ConfType.NewMerger()
}

func (m mined) Equal(a, b resource.Conf) bool {
	if m.comparing.Load() {
		panic("the comparison is broken")
	}
	return m.ConfType.Equal(a, b)
}

// If the code of a kind panics, the batch is refused and the engine keeps working
// as if the batch had not been applied.
func TestApplyWithAKindThatPanics(t *testing.T) {
	for name, dataplanes := range map[string]int{"one class": 1, "classes for all workers": 20} {
		t.Run(name, func(t *testing.T) {
			var merging, comparing atomic.Bool
			kind := *kinds.All().Lookup("MeshTimeout")
			kind.To = &resource.Section{Conf: mined{kind.To.Conf, &merging, &comparing}, Targets: kind.To.Targets}
			loader := resource.Loader{Kinds: resource.NewKinds(&kind)}
			load := func(text string) core.Batch {
				set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
				if err != nil {
					t.Fatal(err)
				}
				return core.Batch{Upsert: set}
			}
			var world strings.Builder
			for i := range dataplanes {
				service := fmt.Sprintf("web-%d", i)
				world.WriteString(dataplaneText(service, service, toBackend))
				world.WriteString(timeoutText(service, "", "kind: MeshService, name: "+service, forAll))
			}
			world.WriteString(identityText("a", "", "/a") + trustText("a", "td"))
			e := core.NewEngine(loader.Kinds, core.Options{Semantics: core.TargetRef})
			apply(t, e, load(world.String()))
			before, sizes := e.View(), e.Sizes()

			elsewhere := "---\ntype: Mesh\nname: another\n" // is first, and must not stay
			change := load(timeoutText("z", "", everyDataplane, `{default: {idleTimeout: 1s}}`) + elsewhere)
			again := load(timeoutText("web-0", "", "kind: MeshService, name: web-0", `{default: {connectionTimeout: 2s}}`))
			for what, c := range map[string]struct {
				armed *atomic.Bool
				batch core.Batch
			}{"merging": {&merging, change}, "comparing": {&comparing, again}} {
				c.armed.Store(true)
				_, err := e.Apply(t.Context(), c.batch)
				if !errors.Is(err, core.ErrPanic) || !strings.Contains(err.Error(), "is broken") || !strings.Contains(err.Error(), "panic_test.go") {
					t.Errorf("%s: got the error %v", what, err)
				}
				if e.View() != before {
					t.Errorf("%s: a view was published", what)
				}
				c.armed.Store(false)
				if diff := cmp.Diff(sizes, e.Sizes()); diff != "" {
					t.Errorf("%s: %s", what, diff)
				}
			}

			commit := apply(t, e, change)
			if diff := cmp.Diff([]string{"another", "default"}, commit.After.Meshes()); diff != "" {
				t.Error(diff)
			}
			if n := len(commit.Changes()); n != dataplanes {
				t.Errorf("%d changes, want one for each of %d classes", n, dataplanes)
			}
			if before.Identities("default") == nil || commit.After.Identities("default").All()[0] != before.Identities("default").All()[0] ||
				trustNames(commit.After) != "a" {
				t.Error("identities or trusts are lost")
			}
			apply(t, e, again)
		})
	}
}

// An order is an embedder's code, too.
func TestApplyWithAnOrderThatPanics(t *testing.T) {
	e := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef, Order: func(a, b *resource.Policy) int { panic("no order") }})
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("web-1", "web", toBackend)+timeoutText("a", "", everyDataplane, forAll))})
	before := e.View()
	_, err := e.Apply(t.Context(), core.Batch{Upsert: resourcetest.Decode(t, timeoutText("b", "", everyDataplane, forAll))})
	if !errors.Is(err, core.ErrPanic) || e.View() != before {
		t.Errorf("got the error %v", err)
	}
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("web-2", "web", toBackend))})
}
