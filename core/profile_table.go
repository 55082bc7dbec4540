package core

import (
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// class is a class of dataplanes, for the writer.
type class struct {
	*match.Class
	profiles []*profileState
	// What selects the class; nil until evaluated, and the same pointer where
	// no policy that selects it only informs.
	enforced, shadow *selection
	queued           bool // for evaluation
	reselect         bool // its policies may have changed
}

// profileState is a profile, for the writer.
type profileState struct {
	number  uint32
	class   *class
	at      int // in the class's profiles
	hash    uint64
	next    *profileState       // with the same hash
	like    *resource.Dataplane // is or was a member: has the outbounds, by tags
	members *index.SetEditor    // nil: not changed in this commit
	size    int                 // members
	now     *profile            // nil until evaluated
}

// profileTable finds the profile of a class and outbounds.
type profileTable struct {
	byHash   map[uint64]*profileState
	byNumber []*profileState // nil: free
	free     []uint32
}

func newProfileTable() profileTable { return profileTable{byHash: map[uint64]*profileState{}} }

// profileFor returns the profile of a dataplane of a class. It makes the
// profile if it is not there yet.
func (w *meshWriter) profileFor(c *class, d *resource.Dataplane) *profileState {
	t := &w.profiles
	hash := w.hashOutbounds(uint64(c.Number), d.Outbounds)
	for p := t.byHash[hash]; p != nil; p = p.next {
		if p.class == c && sameOutbounds(p.like.Outbounds, d.Outbounds) {
			return p
		}
	}
	p := &profileState{class: c, at: len(c.profiles), hash: hash, next: t.byHash[hash], like: d}
	t.byHash[hash] = p
	c.profiles = append(c.profiles, p)
	if n := len(t.free); n > 0 {
		p.number, t.free = t.free[n-1], t.free[:n-1]
		t.byNumber[p.number] = p
	} else {
		p.number = uint32(len(t.byNumber))
		t.byNumber = append(t.byNumber, p)
	}
	return p
}

// drop forgets a profile without members.
func (t *profileTable) drop(p *profileState) {
	if first := t.byHash[p.hash]; first != p {
		for first.next != p {
			first = first.next
		}
		first.next = p.next
	} else if p.next != nil {
		t.byHash[p.hash] = p.next
	} else {
		delete(t.byHash, p.hash)
	}
	last := len(p.class.profiles) - 1
	p.class.profiles[p.at] = p.class.profiles[last]
	p.class.profiles[p.at].at = p.at
	p.class.profiles = p.class.profiles[:last]
	t.byNumber[p.number] = nil
	t.free = append(t.free, p.number)
}

// Of outbounds only the tags matter to policies, in their order.
func (w *meshWriter) hashOutbounds(hash uint64, outbounds []resource.Outbound) uint64 {
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

func sameOutbounds(a, b []resource.Outbound) bool {
	return slices.EqualFunc(a, b, func(a, b resource.Outbound) bool { return slices.Equal(a.Tags, b.Tags) })
}
