package relay

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Answers of the upstream in a row become few States if there are many nodes. The first one is a
// State at once, and the last one a quarter of the row later. With few nodes each answer is one.
func TestPace(t *testing.T) {
	for _, of := range []struct {
		nodes, answers int
		every          time.Duration
		least, most    int
		last           time.Duration // the most until a State has the last answer
	}{
		{nodes: 10, answers: 100, every: time.Millisecond, least: 100, most: 100},
		{nodes: 10_000, answers: 10_000, every: 100 * time.Microsecond, least: 20, most: 60, last: 250 * time.Millisecond},
		{nodes: 10_000, answers: 3, every: time.Minute, least: 3, most: 3},
	} {
		t.Run(fmt.Sprintf("nodes=%d,answers=%d", of.nodes, of.answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := New(Options{Upstreams: []Upstream{{Address: "passthrough:none"}}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range of.nodes {
					r.nodes[nodeKey{id: fmt.Sprint(i)}] = nil
				}
				states, newest := 0, r.State()
				count := func() {
					if now := r.State(); now != newest {
						states, newest = states+1, now
					}
				}
				for i := range of.answers {
					r.mu.Lock()
					r.edited = true
					r.publishSoon()
					r.mu.Unlock()
					if count(); i == 0 && states != 1 {
						t.Error("the first answer is no State at once")
					}
					time.Sleep(of.every)
					synctest.Wait()
					count()
				}
				time.Sleep(of.last)
				synctest.Wait()
				count()
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.edited {
					t.Errorf("%s after the last answer there is no State of it", of.last)
				}
				if states < of.least || states > of.most {
					t.Errorf("%d answers are %d States, want %d to %d", of.answers, states, of.least, of.most)
				}
			})
		})
	}
}
