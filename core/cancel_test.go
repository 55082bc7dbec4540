package core_test

import (
	"context"
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

// countdown is a context that ends after it was asked a number of times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func endsAfter(t *testing.T, n int) *countdown {
	c := &countdown{Context: t.Context()}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a context ends, Apply changes nothing, and the next batch has its usual
// result.
func TestApplyCanceled(t *testing.T) {
	var world, next strings.Builder
	for i := range 20 {
		service := fmt.Sprint("service-", i%7)
		world.WriteString(dataplaneText(fmt.Sprint("d-", i), service, toBackend))
		next.WriteString(dataplaneText(fmt.Sprint("d-", i+5), service, toOther))
	}
	for i := range 7 {
		world.WriteString(timeoutText(fmt.Sprint("t-", i), "", fmt.Sprintf("kind: MeshService, name: service-%d", i), forAll))
		next.WriteString(timeoutText(fmt.Sprint("t-", i), "", fmt.Sprintf("kind: MeshService, name: service-%d", (i+1)%7), forAll))
	}
	e := newEngine(t, world.String())
	batch := core.Batch{Upsert: resourcetest.Decode(t, next.String()), Delete: []resource.ID{dataplaneID("d-0")}}
	canceled := 0
	for ; ; canceled++ {
		before := e.View()
		commit, err := e.Apply(endsAfter(t, canceled), batch)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || e.View() != before || commit.After != nil {
			t.Fatalf("after %d: %v, another view: %t", canceled, err, e.View() != before)
		}
		if canceled%7 == 0 { // the batch may be the first or the second one after another
			other := core.Batch{Upsert: resourcetest.Decode(t, timeoutText("t-0", "", everyDataplane, fmt.Sprintf("{default: {connectionTimeout: %ds}}", canceled+1)))}
			apply(t, e, other)
		}
	}
	if canceled < 50 {
		t.Errorf("the context was asked %d times, too seldom for this batch", canceled)
	}
	if err := e.CheckInvariants(); err != nil {
		t.Error(err)
	}
	all := resourcetest.Decode(t, world.String())
	fresh := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	apply(t, fresh, core.Batch{Upsert: all})
	apply(t, fresh, batch)
	if diff := cmp.Diff([]string(nil), changesText(core.Commit{Before: fresh.View(), After: e.View()})); diff != "" {
		t.Error(diff)
	}
}

// A batch that waits for another one can be canceled.
func TestApplyCanceledWhileWaiting(t *testing.T) {
	started, proceed := make(chan struct{}), make(chan struct{})
	var waiting atomic.Bool
	e := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef, Order: func(a, b *resource.Policy) int {
		if waiting.CompareAndSwap(true, false) {
			close(started)
			<-proceed
		}
		return strings.Compare(a.Name, b.Name)
	}})
	waiting.Store(true)
	done := make(chan error)
	go func() {
		_, err := e.Apply(t.Context(), core.Batch{Upsert: resourcetest.Decode(t, timeoutText("a", "", everyDataplane, forAll)+timeoutText("b", "", everyDataplane, forAll))})
		done <- err
	}()
	<-started
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := e.Apply(ctx, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("web-1", "web", ""))}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	close(proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if e.View().Dataplane(dataplaneID("web-1")) != nil || e.View().Policy(timeoutID("b")) == nil {
		t.Error("the wrong batch was applied")
	}
}
