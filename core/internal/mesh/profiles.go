package mesh

import (
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// profile is a set of dataplanes of one class with the same outbounds, as the
// writer keeps it.
type profile struct {
	number uint32
	class  *class
	at     int // index in the class's profiles
	// outbounds is the hash of the tags of the outbounds, and hash of them and the
	// class.
	outbounds, hash uint64
	sample          *resource.Dataplane // a present or former member; has the outbounds, by tags
	members         *index.SetEditor    // nil: unchanged in this update
	size            int                 // number of members
	view            *profileView        // nil before the first evaluation
	predecessor     *profile            // of a new profile; see reusableView
}

// profileTable finds the profile of a class and outbounds.
type profileTable struct {
	byHash   hashtable.Table[*profile]
	byNumber []*profile // nil: free
	free     []uint32
}

func (t *profileTable) len() int { return len(t.byNumber) - len(t.free) }

// profileFor returns the profile of a dataplane of a class. It is added if it
// does not exist.
func (w *Writer) profileFor(c *class, d *resource.Dataplane) *profile {
	return w.profileWith(c, w.hashOutbounds(d.Outbounds), d)
}

// profileWith is profileFor for a dataplane with a known hash of its outbounds.
func (w *Writer) profileWith(c *class, outbounds uint64, d *resource.Dataplane) *profile {
	t := &w.profiles
	hash := outbounds ^ maphash.Comparable(w.seed, c)
	same := func(p *profile) bool { return p.class == c && equalOutboundTags(p.sample.Outbounds, d.Outbounds) }
	if known, found := t.byHash.Find(hash, same); found {
		return known
	}
	p := &profile{class: c, at: len(c.State.profiles), outbounds: outbounds, hash: hash, sample: d}
	t.byHash.Add(hash, p)
	c.State.profiles = append(c.State.profiles, p)
	if n := len(t.free); n > 0 {
		p.number, t.free = t.free[n-1], t.free[:n-1]
		t.byNumber[p.number] = p
	} else {
		p.number = uint32(len(t.byNumber))
		t.byNumber = append(t.byNumber, p)
	}
	return p
}

// drop removes a profile without members.
func (t *profileTable) drop(p *profile) {
	t.byHash.Remove(p.hash, p)
	of := &p.class.State
	last := len(of.profiles) - 1
	of.profiles[p.at] = of.profiles[last]
	of.profiles[p.at].at = p.at
	of.profiles = of.profiles[:last]
	t.byNumber[p.number] = nil
	t.free = append(t.free, p.number)
}

// hashedList is a list of outbounds and the hash of their tags.
type hashedList struct {
	list []resource.Outbound
	hash uint64
}

// A list of manyOutbounds is hashed once for all dataplanes of an update that share it:
// transparent proxies share thousands of outbounds of service tags (SPEC 17.3). At most
// maxHashedLists are remembered, until the end of the update.
const manyOutbounds, maxHashedLists = 32, 256

// hashOutbounds hashes the tags of the outbounds, in their order. Policies depend
// on nothing else of an outbound.
func (w *Writer) hashOutbounds(outbounds []resource.Outbound) uint64 {
	if len(outbounds) < manyOutbounds {
		return w.hashTags(outbounds)
	}
	if known, found := w.hashed[&outbounds[0]]; found && len(known.list) == len(outbounds) {
		return known.hash
	}
	if w.hashed == nil || len(w.hashed) == maxHashedLists {
		w.hashed = map[*resource.Outbound]hashedList{}
	}
	hash := w.hashTags(outbounds)
	w.hashed[&outbounds[0]] = hashedList{outbounds, hash}
	return hash
}

func (w *Writer) hashTags(outbounds []resource.Outbound) uint64 {
	hash := uint64(len(outbounds))
	const prime = 0x9e37_79b9_7f4a_7c15
	for i := range outbounds {
		for _, tag := range outbounds[i].Tags {
			hash = (hash ^ maphash.String(w.seed, tag.Key)) * prime
			hash = (hash ^ maphash.String(w.seed, tag.Value)) * prime
		}
		hash ^= hash >> 29
	}
	return hash
}

func equalOutboundTags(a, b []resource.Outbound) bool {
	return sameList(a, b) || slices.EqualFunc(a, b, func(a, b resource.Outbound) bool {
		return (a.Backend == nil) == (b.Backend == nil) && slices.Equal(a.Tags, b.Tags)
	})
}

// sameList reports whether two lists are one. Lists of outbounds are not changed.
func sameList(a, b []resource.Outbound) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
