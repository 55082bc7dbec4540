package core

import (
	"hash/maphash"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// meshWriter is what is needed to change one mesh: the published state, and what
// only the writer uses, which is changed in place.
type meshWriter struct {
	name  string
	kinds *resource.Kinds // the engine's; policies may refer to others of the same names
	seed  maphash.Seed

	now        *meshView
	blocks     *blocks.Table
	dataplanes *match.DataplaneIndex // slots of dataplanes by all their terms
	classes    *match.Classes[classState]
	profiles   profileTable
}

// class is a set of dataplanes that the same policies select.
type class = match.Class[classState]

// classState is what the writer keeps for a class.
type classState struct {
	profiles []*profile
	// The selections of the class. They are nil before the first evaluation, and
	// the same pointer if no policy that selects the class only informs.
	enforced, shadow *selection
	queued           bool     // for evaluation
	reselect         bool     // other policies may select the class than before
	origin           *profile // of a new class; see reusable
}

func newMeshWriter(name string, kinds *resource.Kinds, order rules.Order) *meshWriter {
	return &meshWriter{
		name:       name,
		kinds:      kinds,
		seed:       maphash.MakeSeed(),
		blocks:     blocks.NewTable(),
		dataplanes: match.NewDataplaneIndex(),
		classes:    match.NewClasses[classState](),
		now: &meshView{
			name:      name,
			lineage:   new(lineage),
			resources: new(meshResources),
			slots:     index.NewInterner[proxyName](),
			index:     match.Empty(order),
			list:      new(dataplaneList),
		},
	}
}

// empty reports whether the mesh has no resources.
func (w *meshWriter) empty() bool {
	return w.now.resources.empty() && w.now.slots.Len() == 0 && w.now.index.Len() == 0
}

// prepare removes from a batch what changes nothing, and makes the next index of
// policies. It returns nil if nothing remains. It does not change the writer.
func (w *meshWriter) prepare(b *meshBatch) (u *meshUpdate, err error) {
	var running guard
	defer running.recover(&err) // confs are compared
	u = &meshUpdate{meshWriter: w, resources: w.now.resources.after(b), index: w.now.index, delta: &match.Delta{}}
	for _, d := range b.dataplanes {
		if differs(w.now.dataplane(d.id), d.resource, repeatsDataplane) {
			u.edits = append(u.edits, d)
		}
	}
	policies := b.policies[:0]
	for _, p := range b.policies {
		running.code = p.id.Kind
		if differs(w.now.index.Policy(p.id), p.resource, repeatsPolicy) {
			policies = append(policies, p)
		}
	}
	if len(policies) > 0 || b.enforce.delta != nil {
		running.code = "the order of policies"
		e := w.now.index.Edit()
		e.Enforce(b.enforce.state, w.name, b.enforce.delta)
		upserts := make([]*resource.Policy, 0, len(policies))
		for _, p := range policies {
			if p.resource == nil {
				e.Remove(p.id)
			} else {
				upserts = append(upserts, p.resource)
			}
		}
		e.PutAll(upserts)
		if u.index, u.delta, err = e.Commit(); err != nil {
			return nil, err
		}
	}
	if u.resources == w.now.resources && len(u.edits) == 0 && u.index == w.now.index {
		return nil, nil
	}
	return u, nil
}

// differs reports whether an upsert, or a deletion if next is nil, changes what
// is known, which is nil if the resource does not exist.
func differs[T any](known, next *T, repeats func(known, next *T) bool) bool {
	return known != next && (known == nil || next == nil || !repeats(known, next))
}
