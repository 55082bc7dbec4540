package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// readPatience is how long a store may be silent while it is read once.
const readPatience = 8 * time.Second

// Load reads files and stores once, for a command. All errors of both are reported together,
// as by [resource.Loader.Load]; a resource that two of them have is one of the errors. Of
// each store it reads one state. The error is a [*Loss] if a store cannot be read.
func Load(ctx context.Context, loader *resource.Loader, paths []string, stores ...Store) (*resource.Set, error) {
	if len(stores) == 0 {
		return loader.Load(ctx, paths...)
	}
	lists := make([][]Object, len(stores))
	var group errgroup.Group
	for i, store := range stores {
		group.Go(func() (err error) {
			lists[i], _, err = Read(ctx, store)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	byAt := map[string]*Object{}
	var inputs []resource.Input
	for _, list := range lists {
		for i := range list {
			byAt[list[i].At] = &list[i]
			inputs = append(inputs, resource.Input{Name: list[i].At, Data: list[i].Data, Origin: list[i].origin()})
		}
	}
	set, err := loader.LoadWith(ctx, inputs, paths...)
	var all diag.Errors
	if err != nil && !errors.As(err, &all) {
		return nil, err
	}
	var misplaced diag.Sink
	if set != nil {
		for m := range Resources(set) {
			CheckKey(m, byAt[m.Pos.File], &misplaced)
		}
	}
	for _, e := range all {
		misplaced.Error(e)
	}
	withoutLines(set, byAt)
	if err := misplaced.Err(); err != nil {
		errors.As(err, &all)
		for i := range all {
			trim(&all[i].Pos, byAt)
		}
		return nil, all
	}
	return set, nil
}

// CheckKey reports a document of a store that is not under its own key. Of a file there is no
// object: o is nil.
func CheckKey(m *resource.Meta, o *Object, sink *diag.Sink) {
	switch {
	case o == nil:
	case o.Flaw != "":
		sink.Error(flawed(o))
	case !o.fits(m.ID):
		sink.Error(misplaced(m, o.ID))
	}
}

// withoutLines removes lines that have no meaning from the positions of a set, which may
// be nil.
func withoutLines(set *resource.Set, byAt map[string]*Object) {
	if set == nil {
		return
	}
	for m := range Resources(set) {
		if source, kept := set.Sources[m.Pos]; kept {
			delete(set.Sources, m.Pos)
			trim(&m.Pos, byAt)
			set.Sources[m.Pos] = source
		} else {
			trim(&m.Pos, byAt)
		}
	}
	for i := range set.Warnings {
		trim(&set.Warnings[i].Pos, byAt)
	}
	for _, left := range set.LeftOut {
		for i := range left.Errors {
			trim(&left.Errors[i].Pos, byAt)
		}
	}
}

func trim(at *diag.Position, byAt map[string]*Object) {
	if o := byAt[at.File]; o != nil && o.Whole {
		*at = diag.Position{File: at.File}
	}
}

// Read returns all objects of one state of a store, and its revision. The error is a
// [*Loss], or an [ErrIncomplete].
func Read(ctx context.Context, store Store) ([]Object, Revision, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := fmt.Errorf("it has not answered for %v", readPatience)
	silence := time.AfterFunc(readPatience, func() { cancel(silent) })
	defer silence.Stop()
	objects := map[string]Object{}
	var order []string
	lost := func(err error) error { return &Loss{Source: store.String(), Err: err} }
	for page, err := range store.Follow(ctx, Since{List: true}) {
		if err != nil {
			return nil, 0, lost(err)
		}
		if page.Held != "" {
			return nil, 0, fmt.Errorf("%s: %w: %s", store, ErrIncomplete, page.Held)
		}
		silence.Reset(readPatience)
		for _, o := range page.Objects {
			if _, known := objects[o.Key]; !known {
				order = append(order, o.Key)
			}
			objects[o.Key] = o
		}
		if !page.More {
			all := make([]Object, 0, len(order))
			for _, key := range order {
				if o := objects[key]; o.Data != nil {
					all = append(all, o)
				}
			}
			return all, page.Revision, nil
		}
	}
	if ctx.Err() != nil {
		return nil, 0, lost(context.Cause(ctx))
	}
	return nil, 0, lost(errEnded)
}
