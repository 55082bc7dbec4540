package items

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A Memo contains the merged confs of a mesh. Equal ones are one pointer for as long as one of
// them is in use, regardless of what they are the confs of: outbounds by tags or to
// destinations, routes, inbounds or dataplanes.
//
// A merged conf is identified by its section and its origins. However many items apply, the few
// that set a leaf determine the result. If an item can hide others without setting a leaf
// ([resource.ConfType]), the content is compared too.
//
// It is safe for concurrent use, and must not be copied.
type Memo struct {
	seed     maphash.Seed
	sections sync.Map // *hashtable.Weak[results.Effective] by *resource.Section
}

// NewMemo returns a memo without confs.
func NewMemo() *Memo { return &Memo{seed: maphash.MakeSeed()} }

// Merge merges contributions, lowest priority first (SPEC 6). It returns nil if there are none.
// It does not retain the slice.
func (m *Memo) Merge(section *resource.Section, list []results.Contribution) *results.Effective {
	if len(list) == 0 {
		return nil
	}
	merger := section.Conf.NewMerger()
	for i := len(list) - 1; i >= 0; i-- {
		if merger.Fill(list[i].Conf, i) {
			break
		}
	}
	var numbers [8]int
	var buffer [8]results.Origin
	origins := buffer[:0]
	for _, number := range merger.Origins(numbers[:0]) {
		origins = append(origins, list[number].Origin)
	}
	return m.Conf(section, merger.Conf(), origins, func() []results.Contribution { return list })
}

// Conf returns the one merged conf with the given content and origins. The function all returns
// the contributions that it was merged from, lowest priority first.
func (m *Memo) Conf(section *resource.Section, conf resource.Conf, origins []results.Origin, all func() []results.Contribution) *results.Effective {
	hash := uint64(len(origins))
	for _, o := range origins {
		hash = HashPolicy(m.seed, hash, o.Policy, o.Index)
	}
	same := func(e *results.Effective) bool {
		return slices.Equal(e.Origins, origins) && (!section.Conf.HasUnion() || section.Conf.Equal(e.Conf, conf))
	}
	known := m.tableFor(section)
	if e := known.Find(hash, same); e != nil {
		return e
	}
	return known.Add(hash, mergeOrigins(section, conf, origins, all()), same)
}

// tableFor returns the table of the results of a section; the first call for the section adds it.
func (m *Memo) tableFor(section *resource.Section) *hashtable.Weak[results.Effective] {
	known, ok := m.sections.Load(section)
	if !ok {
		known, _ = m.sections.LoadOrStore(section, new(hashtable.Weak[results.Effective]))
	}
	return known.(*hashtable.Weak[results.Effective])
}

// mergeOrigins merges the origins alone, so that the result refers neither to the other
// contributions nor to their policies. If an item that is not an origin changes the result (a
// union of another type hides a lower one), it merges all contributions.
func mergeOrigins(section *resource.Section, conf resource.Conf, origins []results.Origin, all []results.Contribution) *results.Effective {
	kept := make([]results.Contribution, 0, len(origins))
	for _, item := range all {
		if len(kept) < len(origins) && item.Origin == origins[len(kept)] {
			kept = append(kept, item)
		}
	}
	if len(kept) == 0 {
		kept = append(kept, all[0]) // no item sets anything, so one gives the same empty conf
	}
	if e := results.Merge(section.Conf, kept); slices.Equal(e.Origins, origins) && section.Conf.Equal(e.Conf, conf) {
		return e
	}
	return results.Merge(section.Conf, slices.Clone(all))
}

// HashPolicy returns the hash of what has the hash before, and of an item of a policy.
func HashPolicy(seed maphash.Seed, before uint64, p *resource.Policy, index int) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	for _, h := range [...]uint64{maphash.String(seed, p.Name), maphash.String(seed, p.Namespace), uint64(index)} {
		before = (before ^ h) * prime
		before ^= before >> 31
	}
	return before
}
