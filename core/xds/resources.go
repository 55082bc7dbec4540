package xds

import (
	"bytes"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"
)

// content identifies a resource by type, name and the hash of its bytes, which is its
// version too.
type content struct {
	kind Type
	name string
	hash uint64
}

// resources makes each resource once (see the invariants of the package).
type resources struct {
	known  cache[content, Resource]
	builds atomic.Int64 // calls of make
	made   atomic.Int64 // resources with a new content
}

// make returns the resource of a message.
func (r *resources) make(t Type, name string, m proto.Message) *Resource {
	r.builds.Add(1)
	body := marshal(m)
	hash := xxhash.Sum64(body)
	return r.known.get(content{t, name, hash}, func() *Resource {
		r.made.Add(1)
		return New(t, name, body)
	})
}

// makeOwn returns the resource of a message that one dataplane only has: the one of the
// dataplane's snapshot before, if that is equal. Such resources are not in the cache.
func (r *resources) makeOwn(t Type, name string, m proto.Message, before *built) *Resource {
	r.builds.Add(1)
	body := marshal(m)
	if before != nil {
		for _, known := range before.resources {
			if known.Type == t && known.Name == name && bytes.Equal(known.Body, body) {
				return known
			}
		}
	}
	r.made.Add(1)
	return New(t, name, body)
}
