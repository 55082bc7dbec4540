package source

import (
	"sync"
	"time"
)

// Busy is what a server computes at the moment, so that work that does not end can be reported.
// It is safe for concurrent use; the methods of nil do nothing.
type Busy struct {
	mu   sync.Mutex
	work map[int]Work
	next int
}

// Work is one piece of work.
type Work struct {
	What  string // such as "reading the files"
	Since time.Time
}

// Begin records that work begins. The caller calls end when it has ended.
func (b *Busy) Begin(what string) (end func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work == nil {
		b.work = map[int]Work{}
	}
	b.next++
	id := b.next
	b.work[id] = Work{what, time.Now()}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.work, id)
	}
}

// Longest returns the work that began first, false if there is none.
func (b *Busy) Longest() (longest Work, any bool) {
	if b == nil {
		return Work{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.work {
		if !any || w.Since.Before(longest.Since) {
			longest, any = w, true
		}
	}
	return longest, any
}
