package core

import (
	"hash/maphash"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// meshWriter is what is needed to change one mesh: the latest published state,
// and what only a writer looks at, which is changed in place.
type meshWriter struct {
	name   string
	kinds  *resource.Kinds // the engine's; policies may come with others of the same names
	blocks *rules.Blocks
	seed   maphash.Seed

	now        *meshView
	population *match.Population // dataplanes' slots by all their terms
	sorted     *match.Classes
	classes    []*class // by number
	profiles   profileTable
}

func newMeshWriter(name string, kinds *resource.Kinds, order match.Order) *meshWriter {
	w := &meshWriter{
		name:       name,
		kinds:      kinds,
		blocks:     rules.NewBlocks(),
		seed:       maphash.MakeSeed(),
		population: match.NewPopulation(),
		sorted:     match.NewClasses(),
		profiles:   newProfileTable(),
	}
	w.now = &meshView{
		name:    name,
		lineage: new(lineage),
		slots:   index.NewInterner[proxyName](),
		index:   match.Empty(order),
		list:    new(dataplaneList),
	}
	return w
}

// empty reports whether the mesh has no resources.
func (w *meshWriter) empty() bool {
	return w.now.document == nil && w.now.slots.Len() == 0 && w.now.index.Len() == 0
}

// meshCommit is a batch for a mesh that was found to change something.
type meshCommit struct {
	writer     *meshWriter
	document   *resource.Mesh
	dataplanes []change[*resource.Dataplane]
	index      *match.Index
	delta      *match.Delta
}

// prepare drops from a batch what changes nothing, and makes the next index of
// policies. It returns nil if nothing is left, and changes nothing itself.
func (w *meshWriter) prepare(b *meshBatch) (c *meshCommit, err error) {
	defer catch(&err) // confs are compared
	c = &meshCommit{writer: w, document: w.now.document, index: w.now.index, delta: &match.Delta{}}
	changed := false
	if d := b.document; d.id != (resource.ID{}) && changes(c.document, d.resource, repeatsMesh) {
		c.document, changed = d.resource, true
	}
	for _, d := range b.dataplanes {
		if changes(w.now.dataplane(d.id), d.resource, repeatsDataplane) {
			c.dataplanes = append(c.dataplanes, d)
		}
	}
	policies := b.policies[:0]
	for _, p := range b.policies {
		if changes(w.now.index.Policy(p.id), p.resource, repeatsPolicy) {
			policies = append(policies, p)
		}
	}
	if len(policies) > 0 {
		e := w.now.index.Edit()
		for _, p := range policies {
			if p.resource == nil {
				e.Remove(p.id)
			} else {
				e.Put(p.resource)
			}
		}
		if c.index, c.delta, err = e.Commit(); err != nil {
			return nil, err
		}
	}
	if !changed && len(c.dataplanes) == 0 && len(policies) == 0 {
		return nil, nil
	}
	return c, nil
}

// changes reports whether an upsert, or a deletion where next is nil, changes
// what is known, nil for nothing.
func changes[T any](known, next *T, repeats func(known, next *T) bool) bool {
	return known != next && (known == nil || next == nil || !repeats(known, next))
}
