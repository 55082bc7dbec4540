package wire

import (
	"slices"
	"sync"
)

// Peers are the identities at the other ends of a cluster's connections: those that the
// cluster accepts, or those that its endpoints have. They are in the bytes of a resource in
// part only, so a resource that came from another server has none.
//
// A cluster and its endpoints change one after the other at a client. A connection to an
// endpoint that the cluster does not accept yet fails, or has no TLS. A server avoids this
// with [Resource.AcceptedBy].
type Peers struct {
	ids  []string
	only func(accepted []string) *Resource

	mu   sync.Mutex
	last *restricted
}

// restricted is the endpoints that a cluster accepts.
type restricted struct {
	accepted []string
	resource *Resource
}

// NewPeers returns the peers with the given identities, which must be sorted. For endpoints,
// only returns the resource with those endpoints alone that have one of some identities, or
// have none; it returns nil if there are no such endpoints. For clusters it is nil.
func NewPeers(ids []string, only func(accepted []string) *Resource) *Peers {
	return &Peers{ids: ids, only: only}
}

// IDs returns the identities, sorted. The caller must not change the slice. P may be nil.
func (p *Peers) IDs() []string {
	if p == nil {
		return nil
	}
	return p.ids
}

// AcceptedBy returns the endpoints r without those that a cluster does not accept. It returns
// r itself if the cluster accepts all of them or none, and if the peers of one of the two
// are not known.
func (r *Resource) AcceptedBy(cluster *Resource) *Resource {
	if r.Peers == nil || r.Peers.only == nil || cluster.Peers == nil {
		return r
	}
	accepted := cluster.Peers.ids
	if isSubset(r.Peers.ids, accepted) {
		return r
	}
	if of := r.Peers.restrictedTo(accepted); of != nil {
		return of
	}
	return r
}

// restrictedTo returns the result of only. Most clients have the same cluster, so the last
// result is kept.
func (p *Peers) restrictedTo(accepted []string) *Resource {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || !slices.Equal(p.last.accepted, accepted) {
		p.last = &restricted{accepted, p.only(accepted)}
	}
	return p.last.resource
}

// isSubset reports whether a sorted slice has all elements of another sorted slice.
func isSubset(of, in []string) bool {
	if len(of) == 0 || len(of) == len(in) && &of[0] == &in[0] {
		return true
	}
	for _, id := range of {
		at, found := slices.BinarySearch(in, id)
		if !found {
			return false
		}
		in = in[at+1:]
	}
	return true
}
