package source

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Join returns a source with the resources of all sources. It yields its first state when
// each of them has one. A resource that two of them have is an error that names both.
func Join(sources ...Source) Source {
	if len(sources) == 1 {
		return sources[0]
	}
	return joined(sources)
}

type joined []Source

// String implements [Source].
func (j joined) String() string {
	return strings.Join(lists.Map(j, Source.String), " and ")
}

// yielded is what one of the sources yielded.
type yieldedBy struct {
	source int
	update *Update
	err    error
}

// Watch implements [Source].
func (j joined) Watch(ctx context.Context) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		all := make(chan yieldedBy)
		for i, s := range j {
			running.Go(func() {
				for update, err := range s.Watch(ctx) {
					select {
					case all <- yieldedBy{i, update, err}:
					case <-ctx.Done():
						if update != nil {
							update.Recording.Discard()
						}
						return
					}
				}
			})
		}
		w := &joining{last: make([]*Update, len(j))}
		defer w.discard()
		for {
			select {
			case <-ctx.Done():
				return
			case y := <-all:
				update, err := w.next(y)
				if (update != nil || err != nil) && !yield(update, err) {
					return
				}
			}
		}
	}
}

// joining is the state of one watch of joined sources.
type joining struct {
	last       []*Update     // of each source
	set        *resource.Set // of the last update
	recordings []*Recording  // that were not yielded
}

// next returns what is yielded after one of the sources yielded something; nothing if a
// source has no state yet.
func (w *joining) next(y yieldedBy) (*Update, error) {
	if y.err != nil {
		return nil, y.err
	}
	var reserved *reservations // by the last update
	if last := w.last[y.source]; last != nil {
		reserved = last.reserved
	}
	w.last[y.source] = y.update
	if y.update.Recording != nil {
		w.recordings = append(w.recordings, y.update.Recording)
	}
	if slices.Contains(w.last, nil) {
		return nil, nil
	}
	set := w.set
	if set == nil || y.update.Changed() || reserved != y.update.reserved {
		var err error
		if set, err = merged(w.last); err != nil {
			return nil, err
		}
	}
	u := &Update{Set: set, Batch: Diff(w.set, set), Found: y.update.Found, Recording: join(w.recordings)}
	w.set, w.recordings = set, nil
	for _, last := range w.last {
		u.Revision += last.Revision
		u.Invalid = append(u.Invalid, last.Invalid...)
		u.Stores = append(u.Stores, last.Stores...)
		if last.Kept != nil {
			u.Kept = last.Kept
		}
		// The state is as old as the oldest store; files have no age.
		if first := !u.Store; first || last.Store && last.Current.Before(u.Current) {
			u.Current = last.Current
		}
		u.Store = u.Store || last.Store
	}
	return u, nil
}

func (w *joining) discard() {
	for _, r := range w.recordings {
		r.Discard()
	}
}

// merged returns the set of all resources of updates. A resource that two have is an error.
func merged(updates []*Update) (*resource.Set, error) {
	all := new(resource.Set)
	for _, u := range updates {
		all.Meshes = append(all.Meshes, u.Set.Meshes...)
		all.Dataplanes = append(all.Dataplanes, u.Set.Dataplanes...)
		all.Policies = append(all.Policies, u.Set.Policies...)
		all.Objects = append(all.Objects, u.Set.Objects...)
		all.Documents = append(all.Documents, u.Set.Documents...)
		all.Warnings = append(all.Warnings, u.Set.Warnings...)
		all.Ignores = append(all.Ignores, u.Set.Ignores...)
		all.NoResources = append(all.NoResources, u.Set.NoResources...)
		for _, counts := range []struct{ to, from *map[string]int }{{&all.Skipped, &u.Set.Skipped}, {&all.Unread, &u.Set.Unread}} {
			for kind, n := range *counts.from {
				if *counts.to == nil {
					*counts.to = map[string]int{}
				}
				(*counts.to)[kind] += n
			}
		}
	}
	all.Warnings = diag.Sorted(all.Warnings)
	if err := all.Sort(); err != nil {
		return nil, err
	}
	for _, u := range updates { // an object of one store may name a Secret of another one
		all = u.reserved.without(all)
	}
	return all, nil
}
