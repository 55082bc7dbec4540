package serve

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
)

// A load that takes longer than 10 s is logged once and in /status, until it has ended.
func TestSlowLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log LockedBuffer
		s := &Server{}
		s.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		go s.watchWork(ctx)
		end := s.busy.Begin("reading the files")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if s.loads.current().slow != nil || log.String() != "" {
			t.Errorf("after 5 s: %v, %s", s.loads.current().slow, &log)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if slow := s.loads.current().slow; slow == nil || !strings.Contains(slow.Why, "reading the files") || strings.Count(log.String(), "takes longer than 10s") != 1 {
			t.Errorf("after 15 s: %v, %s", slow, &log)
		}
		s.loads.succeed(time.Now())
		end()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.loads.current().slow != nil || strings.Count(log.String(), "has ended") != 1 {
			t.Errorf("after its end: %v, %s", s.loads.current().slow, &log)
		}
		cancel()
	})
}

// A server that is asked to end does so within 5 s, even if a computation goes on.
func TestEndWhileComputing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		begin := time.Now()
		if err := untilEnd(ctx, func(context.Context) error { time.Sleep(time.Hour); return nil }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > time.Minute+5*time.Second {
			t.Errorf("it ended after %v", took)
		}
		time.Sleep(2 * time.Hour) // the computation ends too
	})
}

// Whatever a store has, /status lists at most 100 objects that do not load, and metrics have no
// kind that only a document names.
func TestInvalidObjectsAreLimited(t *testing.T) {
	s := &Server{kinds: map[string]bool{"MeshTimeout": true}}
	s.options.Stores = []source.Store{sourcetest.NewMemory()}
	for range 1000 {
		s.store.invalid = append(s.store.invalid, source.Invalid{Kind: "MeshTimeout"}, source.Invalid{Kind: strings.Repeat("x", len(s.store.invalid))})
	}
	if status := s.storeStatus(time.Now()); len(status.Invalid) != 100 || status.MoreInvalid != 1900 {
		t.Errorf("%d are listed, %d more", len(status.Invalid), status.MoreInvalid)
	}
	values := make(chan prometheus.Metric, 10_000)
	(&collector{s}).collectStore(values)
	close(values)
	kinds := 0
	for v := range values {
		if v.Desc() == storeInvalidDesc {
			kinds++
		}
	}
	if kinds != 2 {
		t.Errorf("metrics have %d kinds", kinds)
	}
}
