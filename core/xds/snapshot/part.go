package snapshot

import (
	"fmt"
	"slices"
	"sync/atomic"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// draft is a part before it is marshalled, with what it depends on.
type draft struct {
	xds.Part
	backends []variant.Destination
	found    []destinations.Outbound
	confs    []*results.Effective // that shaped the draft
	policies []*resource.Policy   // that did so, in addition to the policies of confs
	shaped   []*resource.Policy   // all that did so, if that is known; the two above are not read then
	peers    *wire.Peers          // of a cluster or its endpoints, or nil
	key      *wire.Resource       // a secret that the clusters may use, or nil
}

// shapedBy returns the policies that shaped the part, sorted by kind and identity.
func (p *draft) shapedBy() []*resource.Policy {
	if p.shaped != nil {
		return p.shaped
	}
	return shapedBy(p.confs, p.policies)
}

// shapedBy returns the policies of confs, which may be nil, and others, sorted by kind and
// identity.
func shapedBy(confs []*results.Effective, others []*resource.Policy) []*resource.Policy {
	all := slices.Clone(others)
	for _, e := range confs {
		if e == nil {
			continue
		}
		for _, o := range e.Origins {
			all = append(all, o.Policy)
		}
	}
	slices.SortFunc(all, func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
	return slices.Compact(all)
}

// references are the destinations that a part refers to in addition to the destinations of
// the outbounds. Few parts have any.
type references struct {
	backends []variant.Destination
	found    []destinations.Outbound // destinations that are resources
}

// references returns what the draft refers to, nil if there is nothing.
func (p *draft) references() *references {
	if len(p.backends)+len(p.found) == 0 {
		return nil
	}
	return &references{p.backends, p.found}
}

// built is a part after it was built. It is immutable.
type built struct {
	resources []*wire.Resource
	warnings  []xds.Warning
	refers    *references // nil: to nothing beyond the outbounds
	applied   []xds.Applied
	changes   []xds.PartChange
	policies  []*resource.Policy
	inbound   inboundKey // of a part that is an inbound

	mask *facetMask // keeps the entry of the part's key in faceted.masks; nil: there is none
	// used is what the build asked the client for. Unlike the mask it is the same for
	// all clients with these facets, and does not depend on other builds of the key.
	used facetSet
}

// facetMask is the set of facets that the builds of one key have asked for so far.
type facetMask struct{ set atomic.Pointer[facetSet] }

// noFacets is the set of a new mask, and of a key without a mask.
var noFacets facetSet

func newFacetMask() *facetMask {
	m := &facetMask{}
	m.set.Store(&noFacets)
	return m
}

// faceted is a cache of parts whose builds may ask for facets of the client.
//
// A part is filed under its key and the values of all facets in the mask of the key. A key
// whose builds ask for none, which most keys are, has no mask. The mask grows when a build
// asks for another facet; entries that were filed under a smaller mask are then no longer
// found, and are freed when they are not in use.
//
// Many snapshots that are built at the same time ask for one part: the first call
// builds it, and the others wait for it.
type faceted[K comparable] struct {
	masks  weakcache.Cache[K, facetMask]
	values weakcache.Cache[facetedKey[K], built]
	turns  turns[facetedKey[K]]
	audit  bool
	reads  tagReading
}

type facetedKey[K comparable] struct {
	key    K
	facets facets
}

// get returns the part of a key for a dataplane. Build must be a function of the key
// and of what it asks the client for, and must not get the same key.
func (f *faceted[K]) get(key K, d *resource.Dataplane, build func(*client) *built) *built {
	for {
		known := f.known(key)
		at := facetedKey[K]{key, facetsOf(d, *known)}
		if b := f.values.Lookup(at); b != nil {
			if f.audit {
				mustEqual(b, build(&client{dataplane: d, reads: f.reads}))
			}
			return b
		}
		if f.turns.take(at) {
			if b := f.inTurn(at, d, known, build); b != nil {
				return b
			}
		}
	}
}

// known returns the facets that the builds of a key have asked for so far.
func (f *faceted[K]) known(key K) *facetSet {
	if mask := f.masks.Lookup(key); mask != nil {
		return mask.set.Load()
	}
	return &noFacets
}

// inTurn builds a part in the turn of its key. It returns nil if another turn has ended
// since the caller looked for the part.
func (f *faceted[K]) inTurn(at facetedKey[K], d *resource.Dataplane, known *facetSet, build func(*client) *built) *built {
	defer f.turns.end(at)
	if f.known(at.key) != known || f.values.Lookup(at) != nil {
		return nil
	}
	c := &client{dataplane: d, reads: f.reads}
	b := build(c)
	b.used = c.used
	return f.file(at.key, d, b)
}

// file files a part that was built, before the facets that it used are added to the mask: a
// call that sees the new mask finds the part. It returns the part that was filed first.
func (f *faceted[K]) file(key K, d *resource.Dataplane, b *built) *built {
	if b.used.size() == 0 { // so no build of the key asks for a facet
		return f.values.Get(facetedKey[K]{key: key}, func() *built { return b })
	}
	b.mask = f.masks.Get(key, newFacetMask)
	for {
		known := b.mask.set.Load()
		union := known.with(b.used)
		filed := f.values.Get(facetedKey[K]{key, facetsOf(d, union)}, func() *built { return b })
		if union.size() == known.size() || b.mask.set.CompareAndSwap(known, &union) {
			return filed
		}
	}
}

// mustEqual panics if a part that is built again has different content, because then the
// key of its cache lacks an input.
func mustEqual(a, b *built) {
	if !slices.Equal(a.resources, b.resources) {
		panic(fmt.Sprintf("one key has two contents: %s and %s", names(a.resources), names(b.resources)))
	}
}

func names(resources []*wire.Resource) (text []string) {
	for _, r := range resources {
		text = append(text, r.Name+"@"+r.Version)
	}
	return text
}
