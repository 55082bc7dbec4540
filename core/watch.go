package core

import (
	"context"
	"iter"
)

// Watch yields each newer view with what happened to dataplanes since the one
// before it, until the context ends. The first is compared with from, or with
// no resources at all where from is nil, and comes at once if the engine is
// ahead of it.
//
// Whoever is slow gets the changes of several commits as one, and a change that
// was undone meanwhile not at all. No writer ever waits for it, and nothing is
// queued: a watcher keeps one view alive, the one it was given last. A view
// without changes to dataplanes is yielded too.
func (e *Engine) Watch(ctx context.Context, from *View) iter.Seq2[*View, []Change] {
	if from == nil {
		from = &View{kinds: e.kinds}
	}
	return func(yield func(*View, []Change) bool) {
		for seen := from; ctx.Err() == nil; {
			next := e.View()
			if next == seen {
				select {
				case <-ctx.Done():
				case <-seen.superseded:
				}
				continue
			}
			if !yield(next, Compare(seen, next)) {
				return
			}
			seen = next
		}
	}
}
