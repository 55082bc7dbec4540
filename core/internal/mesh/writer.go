package mesh

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Writer is what is needed to change one mesh: the published state, and what
// only the writer uses, which is changed in place. It is for one goroutine.
type Writer struct {
	name  string
	kinds *resource.Kinds // the engine's; policies may refer to others of the same names
	seed  maphash.Seed

	now        *State
	blocks     *blocks.Table
	dataplanes *match.DataplaneIndex // slots of dataplanes by all their facts
	classes    *match.Classes[classState]
	profiles   profileTable
	hashed     map[*resource.Outbound]hashedList // by the first outbound; see hashOutbounds
}

// class is a set of dataplanes that the same policies select.
type class = match.Class[classState]

// classState is what the writer keeps for a class.
type classState struct {
	profiles []*profile
	// The configs of the class. They are nil before the first evaluation, and
	// the same pointer if no policy that selects the class only informs.
	enforced, shadow *classConfigs
	queued           bool     // for evaluation
	reselect         bool     // other policies may select the class than before
	predecessor      *profile // of a new class; see reusable
}

// NewWriter returns the writer of a mesh without resources.
func NewWriter(name string, kinds *resource.Kinds, reading semantics.Reading) *Writer {
	memo := items.NewMemo()
	table := blocks.NewTable(reading.Semantics, memo)
	return &Writer{
		name:       name,
		kinds:      kinds,
		seed:       maphash.MakeSeed(),
		blocks:     table,
		dataplanes: match.NewDataplaneIndex(reading.Semantics),
		classes:    match.NewClasses[classState](),
		now: &State{
			name:      name,
			kinds:     kinds,
			lineage:   new(lineage),
			blocks:    table,
			resources: &resources{destinations: new(destinations), proxies: reading.Semantics.Proxies(nil, nil)},
			slots:     index.NewInternerFunc(hashName),
			index:     match.Empty(reading),
			list:      new(dataplaneList),
			toItems:   &toItems{caches: destination.NewCaches(memo)},
		},
	}
}

// Rebuild returns a new writer of a state.
func Rebuild(ctx context.Context, published *State, reading semantics.Reading, state *enforce.Hub, memory *Buffers) (*Writer, error) {
	w := NewWriter(published.name, published.kinds, reading)
	all := published.batch()
	all.Enforcement.State = state
	u, err := w.Prepare(ctx, all)
	if err == nil {
		_, err = u.Run(ctx, memory)
	}
	if err != nil {
		return nil, fmt.Errorf("mesh %q: %w", w.name, err)
	}
	return w, nil
}

// Mesh returns the name of the mesh.
func (w *Writer) Mesh() string { return w.name }

// Len returns the numbers of classes, profiles and blocks.
func (w *Writer) Len() (classes, profiles, blocks int) {
	return w.classes.Len(), w.profiles.len(), w.countBlocks()
}

// countBlocks returns the number of different merged confs and configurations of inbounds.
func (w *Writer) countBlocks() int {
	distinct := map[any]bool{}
	for _, p := range w.profiles.byNumber {
		if p == nil {
			continue
		}
		for _, scope := range []results.Scope{results.Enforced, results.Shadow} {
			for _, config := range p.view.configs(scope) {
				addBlocks(distinct, config)
			}
		}
	}
	return len(distinct)
}

func addBlocks(distinct map[any]bool, c *results.Config) {
	add := func(e *results.Effective) {
		if e != nil {
			distinct[e] = true
		}
	}
	add(c.Default)
	for i := range c.Outbounds {
		add(c.Outbounds[i].Effective)
		for _, r := range c.Outbounds[i].Routes {
			add(r.Effective)
		}
	}
	for _, in := range c.Inbounds {
		if in.FromIgnored || in.From != nil || len(in.Rules)+len(in.Unmerged) > 0 {
			distinct[in] = true
		}
		for i := range in.Rules {
			add(in.Rules[i].Effective)
		}
	}
}

// empty reports whether the mesh has no resources.
func (w *Writer) empty() bool {
	r := w.now.resources
	return r.document == nil && len(r.objects) == 0 && w.now.slots.Len() == 0 && w.now.index.Len() == 0
}

// Prepare removes from a batch what changes nothing, and makes the next index of
// policies. It returns nil if nothing remains. It does not change the writer.
func (w *Writer) Prepare(ctx context.Context, b *Batch) (u *Update, err error) {
	var running Guard
	defer running.Recover(&err) // confs are compared
	u = &Update{writer: w, resources: w.now.resources.after(b, w.now.index.Semantics()), index: w.now.index, delta: &noDelta}
	if err := u.edit(ctx, b.Dataplanes); err != nil {
		return nil, err
	}
	policies := b.Policies[:0]
	for _, p := range b.Policies {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		running.Code = p.ID.Kind
		if differs(w.now.index.Policy(*p.ID), p.Resource, repeatsPolicy) {
			policies = append(policies, p)
		}
	}
	if len(policies) > 0 || b.Enforcement.Delta != nil {
		running.Code = "the order of policies"
		e := w.now.index.Edit()
		e.Enforce(b.Enforcement.State, w.name, b.Enforcement.Delta)
		upserts := make([]*resource.Policy, 0, len(policies))
		for _, p := range policies {
			if p.Resource == nil {
				e.Remove(*p.ID)
			} else {
				upserts = append(upserts, p.Resource)
			}
		}
		if err := e.PutAll(upserts); err != nil {
			return nil, err
		}
		if u.index, u.delta, err = e.Commit(); err != nil {
			return nil, err
		}
	}
	if u.resources == w.now.resources && len(u.edits) == 0 && u.index == w.now.index {
		return nil, nil
	}
	return u, nil
}

// noDelta is the delta of an update that changes no policy. It is not written.
var noDelta match.Delta

// edit sets the edits of dataplanes: of those in a batch, sorted by identity, and of those
// that the objects of the mesh complete in another way than before. Without the latter they are
// in the memory of the batch.
func (u *Update) edit(ctx context.Context, edits []Edit[*resource.Dataplane]) error {
	now, proxies := u.writer.now, u.resources.proxies
	if proxies == now.resources.proxies {
		u.edits = edits[:0]
	}
	add := func(d Edit[*resource.Dataplane]) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if d.Resource != nil {
			d.Resource = proxies.Complete(d.Resource)
		}
		if differs(now.Dataplane(*d.ID), d.Resource, repeatsDataplane) {
			u.edits = append(u.edits, d)
		}
		return nil
	}
	for _, d := range edits {
		if err := add(d); err != nil {
			return err
		}
	}
	if proxies == now.resources.proxies {
		return nil
	}
	for _, d := range now.Dataplanes() {
		if _, edited := slices.BinarySearchFunc(edits, d.ID, func(e Edit[*resource.Dataplane], id resource.ID) int { return e.ID.Compare(id) }); edited {
			continue
		}
		if err := add(Upsert(d)); err != nil {
			return err
		}
	}
	return nil
}

// differs reports whether next, nil for a deletion, differs from known, nil if
// the resource does not exist.
func differs[T any](known, next *T, repeats func(known, next *T) bool) bool {
	return known != next && (known == nil || next == nil || !repeats(known, next))
}
