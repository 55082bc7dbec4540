package core

import (
	"context"
	"iter"
)

// Watch yields each newer view with what changed for dataplanes since the previous one,
// until the context ends. The first view is compared with from, or with an empty view if
// from is nil. It is yielded at once if the engine is ahead of from.
//
// A slow caller gets the changes of several commits as one, without changes that were
// reverted in the meantime. Writers do not wait for it, and nothing is queued: a watcher
// keeps one view alive, the last that it yielded. A view without changes to dataplanes is
// yielded too, such as one with another MeshIdentity.
func (e *Engine) Watch(ctx context.Context, from *View) iter.Seq2[*View, []Change] {
	if from == nil {
		from = new(View)
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
