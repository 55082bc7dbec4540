package sourcetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Run runs the suite. Each test begins with a new subject.
func Run(t *testing.T, start func(t *testing.T) *Subject) {
	RunIn(t, func(t *testing.T, run func(t *testing.T)) { run(t) }, start)
}

// RunIn is [Run] with a function that runs each test, such as [synctest.Test].
func RunIn(t *testing.T, in func(t *testing.T, run func(t *testing.T)), start func(t *testing.T) *Subject) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Subject)
	}{
		{"Empty", testEmpty}, {"Order", testOrder}, {"AtOnce", testAtOnce}, {"Invalid", testInvalid}, {"Permission", testPermission},
		{"Loss", testLoss}, {"Relist", testRelist}, {"Stop", testStop},
	} {
		t.Run(test.name, func(t *testing.T) { in(t, func(t *testing.T) { test.run(t, start(t)) }) })
	}
}

// An empty place is a state.
func testEmpty(t *testing.T, s *Subject) {
	w := watch(t, s.Source)
	w.state("")
	s.Write(t, Dataplane("web", "10.0.0.1"))
	w.state("web=10.0.0.1")
}

// Updates have the revisions of a history, and the last one is complete.
func testOrder(t *testing.T, s *Subject) {
	s.Write(t, Dataplane("web", "10.0.0.1"), Timeout("t", "1s"))
	w := watch(t, s.Source)
	w.state("web=10.0.0.1 t=1s")
	for i := range 50 {
		s.Write(t, Dataplane("web", fmt.Sprintf("10.0.1.%d", i+1)), Timeout("t", fmt.Sprintf("%ds", i+1)))
	}
	w.state("web=10.0.1.50 t=50s")
	s.Write(t, Deleted(Timeout("t", "")))
	last := w.state("web=10.0.1.50")
	if len(last.Batch.Delete) != 1 || len(last.Batch.Upsert.Dataplanes) != 0 {
		t.Errorf("the batch of a deletion has %d deletions and %d dataplanes", len(last.Batch.Delete), len(last.Batch.Upsert.Dataplanes))
	}
}

// No update has a part of what was written at once.
func testAtOnce(t *testing.T, s *Subject) {
	if s.Separately {
		t.Skip("nothing is written at once")
	}
	w := watch(t, s.Source)
	w.state("")
	for i := range 20 {
		address := fmt.Sprintf("10.0.0.%d", i+1)
		s.Write(t, Dataplane("a", address), Dataplane("b", address), Dataplane("c", address))
	}
	w.state("a=10.0.0.20 b=10.0.0.20 c=10.0.0.20")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.updates {
		for _, d := range u.Set.Dataplanes {
			if d.Address != u.Set.Dataplanes[0].Address || len(u.Set.Dataplanes) != 3 {
				t.Fatalf("revision %d is %s", u.Revision, describe(u.Set))
			}
		}
	}
}

// An object that does not load is reported. Its last good version stays in effect until it
// is deleted.
func testInvalid(t *testing.T, s *Subject) {
	s.Write(t, Timeout("t", "1s"))
	w := watch(t, s.Source)
	w.state("t=1s")
	s.Write(t, Timeout("t", "soon"), Timeout("never", "soon"), Dataplane("web", "10.0.0.1"))
	if s.Whole {
		w.until("error of the invalid load", func(_ *source.Update, err error) bool {
			var errs diag.Errors
			return errors.As(err, &errs) && len(errs) == 2 && strings.Contains(errs[0].Error(), "idleTimeout")
		})
		s.Write(t, Timeout("t", "2s"), Deleted(Timeout("never", "")))
		w.state("web=10.0.0.1 t=2s")
		return
	}
	u := w.until("invalid objects, and a valid one", func(u *source.Update, err error) bool {
		return err == nil && len(u.Invalid) == 2 && describe(u.Set) == "web=10.0.0.1 t=1s" // a store may write one after the other
	})
	never, good := u.Invalid[0], u.Invalid[1]
	if never.Effect != source.EffectNone || good.Effect != source.EffectLastGood || good.LastGood == "" || good.LastGood == good.At {
		t.Errorf("the effects are %v, and %v of %q", never.Effect, good.Effect, good.LastGood)
	}
	if e := good.Errors[0]; good.Kind != "MeshTimeout" || e.Pos.File != good.At || !strings.Contains(e.Path, "idleTimeout") || good.Since.IsZero() {
		t.Errorf("reported is %+v", good)
	}
	s.Write(t, Deleted(Timeout("t", "")))
	w.until("deletion", func(u *source.Update, _ error) bool { return describe(u.Set) == "web=10.0.0.1" && len(u.Invalid) == 1 })
	s.Write(t, Timeout("never", "3s"))
	w.until("mended object", func(u *source.Update, _ error) bool {
		return describe(u.Set) == "web=10.0.0.1 never=3s" && len(u.Invalid) == 0
	})
}

// A permission that cannot be read and never was good denies. One that was good stays.
func testPermission(t *testing.T, s *Subject) {
	if s.Whole {
		t.Skip("an invalid permission makes the whole load invalid")
	}
	bad := func(name string) Document {
		return Document{"MeshTrafficPermission", name, `{"targetRef": {"kind": "Dataplane", "labels": {"app": "web"}}, "from": [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Alow"}}]}`}
	}
	good := Document{"MeshTrafficPermission", "p", `{"from": [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Allow"}}]}`}
	s.Write(t, good)
	w := watch(t, s.Source)
	w.state("p")
	s.Write(t, bad("p"), bad("q"))
	u := w.until("invalid permissions", func(u *source.Update, _ error) bool { return len(u.Invalid) == 2 })
	if got := describe(u.Set); got != "p q:denies" {
		t.Errorf("in effect are %s", got)
	}
	if denies := u.Set.Policies[1]; denies.TargetRef.Labels.Value("app") != "web" {
		t.Errorf("the denial is of %v", denies.TargetRef)
	}
	s.Write(t, Document{good.Kind, "q", good.Spec})
	w.until("good permission", func(u *source.Update, _ error) bool { return describe(u.Set) == "p q" })
}

// During a loss the last state stays. Afterwards only the differences arrive.
func testLoss(t *testing.T, s *Subject) { testLost(t, s, func(*testing.T) {}) }

// A source that cannot continue lists everything and reports only the differences.
func testRelist(t *testing.T, s *Subject) {
	if s.Forget == nil {
		t.Skip("it keeps no changes")
	}
	testLost(t, s, s.Forget)
}

func testLost(t *testing.T, s *Subject, meanwhile func(*testing.T)) {
	if s.Lose == nil {
		t.Skip("it cannot be lost")
	}
	s.Write(t, Dataplane("a", "10.0.0.1"), Dataplane("b", "10.0.0.1"), Timeout("t", "1s"))
	w := watch(t, s.Source)
	before := w.state("a=10.0.0.1 b=10.0.0.1 t=1s")
	s.Lose(t)
	w.until("loss", func(u *source.Update, err error) bool {
		var loss *source.Loss
		return errors.As(err, &loss) && loss.Source == s.Source.String() && !loss.Since.Before(before.Current)
	})
	s.Write(t, Dataplane("b", "10.0.0.2"), Deleted(Timeout("t", "")), Dataplane("c", "10.0.0.3"))
	meanwhile(t)
	s.Restore(t)
	after := w.state("a=10.0.0.1 b=10.0.0.2 c=10.0.0.3")
	if after.Set.Dataplanes[0] != before.Set.Dataplanes[0] {
		t.Error("a dataplane that did not change is another one after the loss")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.updates[1:] {
		for _, d := range u.Batch.Upsert.Dataplanes {
			if d.Name == "a" {
				t.Error("a dataplane that did not change is in a batch after the loss")
			}
		}
	}
}

// The sequence ends with its context, even during a loss.
func testStop(t *testing.T, s *Subject) {
	s.Write(t, Dataplane("web", "10.0.0.1"))
	w := watch(t, s.Source)
	w.state("web=10.0.0.1")
	if s.Lose != nil {
		s.Lose(t)
		w.until("loss", func(_ *source.Update, err error) bool { return err != nil })
		defer s.Restore(t)
	}
	w.stop()
	select {
	case <-w.ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the sequence does not end with its context")
	}
}
