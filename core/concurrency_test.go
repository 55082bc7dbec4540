package core_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Each commit changes two policies and a label at once. A reader must see all of a commit
// or none of it, and never wait.
func TestReadersSeeWholeCommits(t *testing.T) {
	var world strings.Builder
	for i := range 40 {
		world.WriteString(dataplaneText(fmt.Sprintf("web-%d", i), "web", toBackend+","+toOther))
	}
	commitText := func(n int) string {
		return timeoutText("first", "", everyDataplane, fmt.Sprintf("{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: %ds}}", n)) +
			timeoutText("second", "", everyDataplane, fmt.Sprintf("{targetRef: {kind: MeshService, name: other}, default: {connectionTimeout: %ds}}", n)) +
			strings.Replace(dataplaneText(fmt.Sprintf("web-%d", n%40), "web", toBackend+","+toOther), "name: web", fmt.Sprintf("labels: {commit: n%d}\nname: web", n), 1)
	}
	const commits = 150
	batches := make([]core.Batch, commits)
	for i := range batches {
		batches[i] = core.Batch{Upsert: resourcetest.Decode(t, commitText(i+1))}
	}
	e := newEngine(t, world.String())
	apply(t, e, batches[0])
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			last := 0
			for {
				select {
				case <-done:
					return
				default:
				}
				n := readCommit(t, e.View())
				if n < last {
					t.Errorf("commit %d after %d", n, last)
				}
				last = n
			}
		})
	}
	for _, b := range batches[1:] {
		if _, err := e.Apply(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	if n := readCommit(t, e.View()); n != commits {
		t.Errorf("the last commit is %d", n)
	}
}

// readCommit returns the number of the commit that made a view. All parts of the view
// must agree on it.
func readCommit(t *testing.T, v *core.View) int {
	found := -1
	note := func(what string, n int) {
		if found >= 0 && n != found {
			t.Errorf("%s is of commit %d, others of %d", what, n, found)
		}
		found = n
	}
	newest := 0
	for _, d := range v.Dataplanes("default") {
		var n int
		if _, err := fmt.Sscanf(d.Labels.Value("commit"), "n%d", &n); err == nil {
			newest = max(newest, n)
		}
		for _, config := range v.Configs(d, core.Enforced) {
			for i := range config.Outbounds {
				timeout := config.Outbounds[i].Conf.(*meshtimeout.Conf).ConnectionTimeout
				note(fmt.Sprintf("outbound %d of %s", i, d.Name), int(time.Duration(*timeout)/time.Second))
			}
		}
	}
	note("the newest label", newest)
	return found
}

// Writers wait for each other; all their changes are in the last view.
func TestWriters(t *testing.T) {
	e := newEngine(t, timeoutText("base", "", everyDataplane, forAll))
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 20 {
				if _, err := e.Apply(t.Context(), core.Batch{Upsert: resourcetest.Decode(t, dataplaneText(fmt.Sprintf("dp-%d-%d", w, i), "web", toBackend))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if n := len(e.View().Dataplanes("default")); n != 80 {
		t.Errorf("%d dataplanes", n)
	}
	if err := e.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// A slow watcher gets several commits as one, and finally the current view.
func TestWatch(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("web-2", "web", toBackend))})
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("gone", "web", toBackend))})
	apply(t, e, core.Batch{Delete: []resource.ID{dataplaneID("gone")}})

	var got []string
	for view, changes := range e.Watch(ctx, nil) {
		if view != e.View() {
			t.Error("not the newest view")
		}
		got = append(got, changesText(core.Commit{After: view, Before: core.NewEngine(view.Kinds(), core.Options{Semantics: core.TargetRef}).View()})...)
		switch len(got) {
		case 1:
			if len(changes) != 1 || changes[0].Len() != 2 {
				t.Errorf("got %v", changes)
			}
			go func() {
				if _, err := e.Apply(t.Context(), core.Batch{Upsert: resourcetest.Decode(t, timeoutText("base", "", everyDataplane, forAll))}); err != nil {
					t.Error(err)
				}
			}()
			continue
		case 2:
			if len(changes) != 1 || changes[0].Action != core.Changed || changes[0].Policies[0].Name != "base" {
				t.Errorf("got %v", changes)
			}
			cancel()
		}
	}
	if want := []string{"joined web-1 web-2, itself", "joined web-1 web-2, itself, MeshTimeout of outbound 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestSuperseded(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend))
	v := e.View()
	select {
	case <-v.Superseded():
		t.Error("there is no newer view")
	default:
	}
	apply(t, e, core.Batch{Delete: []resource.ID{dataplaneID("web-1")}})
	select {
	case <-v.Superseded():
	default:
		t.Error("Superseded is not closed")
	}
}

// A superseded view is freed, with everything that only it refers to.
func TestDeadViewsAreFreed(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	v := e.View()
	config := v.Configs(v.Dataplane(dataplaneID("web-1")), core.Enforced)[0]
	view, dead, effective := weak.Make(v), weak.Make(config), weak.Make(config.Outbounds[0].Effective)
	v, config = nil, nil
	runtime.GC()
	if view.Value() == nil || dead.Value() == nil {
		t.Fatal("the present view was freed")
	}
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, timeoutText("base", "", everyDataplane, `{default: {connectionTimeout: 2s}}`))})
	for range 3 {
		runtime.GC()
	}
	if view.Value() != nil {
		t.Error("the view is kept")
	}
	if dead.Value() != nil {
		t.Error("a config of it is kept")
	}
	if effective.Value() != nil {
		t.Error("a block of it is kept")
	}
	runtime.KeepAlive(e)
}

// A watcher keeps the last yielded view alive, and not the view that it began with.
func TestWatchersKeepOneView(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend))
	commit := func(name string) {
		apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText(name, "web", toBackend))})
	}
	first := weak.Make(e.View())
	watch := e.Watch(t.Context(), e.View())
	commit("dp-0")
	round := 0
	for range watch {
		if round++; round < 3 {
			commit(fmt.Sprintf("dp-%d", round))
			continue
		}
		for range 3 {
			runtime.GC()
		}
		if first.Value() != nil {
			t.Error("the view that a watcher began with is kept")
		}
		break
	}
	runtime.KeepAlive(e)
}
