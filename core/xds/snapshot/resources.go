package snapshot

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// contentKey identifies a resource by type, name, the hash of its bytes, which is its version
// too, and the hash of its peers.
type contentKey struct {
	kind        wire.Type
	name        string
	hash, peers uint64
}

// resources makes each resource once (see the invariants of the package).
type resources struct {
	known   weakcache.Cache[contentKey, wire.Resource]
	buffers buffers
	builds  atomic.Int64 // calls of make
	made    atomic.Int64 // resources with a new content
}

// make returns the resource of a message.
func (r *resources) make(t wire.Type, name string, m proto.Message) *wire.Resource {
	return r.makeWith(nil, t, name, m)
}

// makeWith returns the resource of a message with its peers, which may be nil.
func (r *resources) makeWith(peers *wire.Peers, t wire.Type, name string, m proto.Message) *wire.Resource {
	r.builds.Add(1)
	buffer := r.buffers.get(m)
	defer r.buffers.put(buffer)
	body := *buffer
	key := contentKey{kind: t, name: name, hash: xxhash.Sum64(body)}
	if peers != nil {
		key.peers = xxhash.Sum64String(strings.Join(peers.IDs(), "\n")) | 1
	}
	return r.known.Get(key, func() *wire.Resource {
		r.made.Add(1)
		made := wire.New(t, name, bytes.Clone(body))
		made.Peers = peers
		return made
	})
}

// makeOwn returns the resource of a message that only one dataplane has: the one of the
// dataplane's previous snapshot, if that is equal. Such resources are not in the cache.
func (r *resources) makeOwn(t wire.Type, name string, m proto.Message, before *built) *wire.Resource {
	r.builds.Add(1)
	buffer := r.buffers.get(m)
	defer r.buffers.put(buffer)
	if before != nil {
		for _, known := range before.resources {
			if known.Type == t && known.Name == name && bytes.Equal(known.Body, *buffer) {
				return known
			}
		}
	}
	r.made.Add(1)
	return wire.New(t, name, bytes.Clone(*buffer))
}

// buffers are those in which messages are marshalled. After an edit most resources of a part are
// what they were, and then nothing is kept of them.
type buffers struct{ free sync.Pool }

// get returns a buffer with the bytes of a message.
func (b *buffers) get(m proto.Message) *[]byte {
	buffer, ok := b.free.Get().(*[]byte)
	if !ok {
		buffer = new([]byte)
	}
	*buffer = message.Append((*buffer)[:0], m)
	return buffer
}

// put gives a buffer back. A large one is left to the collector.
func (b *buffers) put(buffer *[]byte) {
	if cap(*buffer) <= maxBuffer {
		b.free.Put(buffer)
	}
}

// maxBuffer is the size of the largest buffer that is used again, in bytes.
const maxBuffer = 64 << 10
