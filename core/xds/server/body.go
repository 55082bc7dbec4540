package server

import (
	"sync"
	"weak"

	"google.golang.org/grpc/mem"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A body is a message and its bytes, shared by all streams that it is sent to.
type body struct {
	message *message
	size    int // in bytes
	once    sync.Once
	buffer  mem.SliceBuffer
	shared  mem.Buffer // buffer as an interface, made once
}

func newBody(m message) *body { return &body{message: &m, size: m.size()} }

// encoded returns the bytes, which are marshalled at the first call.
func (b *body) encoded() mem.Buffer {
	b.once.Do(func() {
		b.buffer = b.message.bytes()
		b.shared = b.buffer
	})
	return b.shared
}

// cacheBytes limits what a cache keeps. A body in use lives longer.
const cacheBytes = 64 << 20

// maxVersions limits the versions that a cache keeps.
const maxVersions = 1024

// A bodyCache contains the response bodies of one generation, by content. At a change most
// streams have the same difference, so they share one body. What no stream uses is collected as
// garbage: after all streams have connected, most bodies were of one stream.
type bodyCache struct {
	mu     sync.Mutex
	bodies map[uint64]weak.Pointer[body] // by hash of the message
	size   int
	// versions has the versions of slices of resources that many streams share.
	versions map[sliceKey]string
}

// A sliceKey identifies a slice that is never changed.
type sliceKey struct {
	first  **wire.Resource
	length int
}

// version returns the version of a list of resources and variants. A list that many streams
// share is hashed once.
func (c *bodyCache) version(resources []*wire.Resource, variants []wire.Variant) string {
	if len(resources) == 0 || len(variants) > 0 {
		return versionOf(resources, variants)
	}
	key := sliceKey{&resources[0], len(resources)}
	c.mu.Lock()
	version, ok := c.versions[key]
	c.mu.Unlock()
	if ok {
		return version
	}
	version = versionOf(resources, nil) // without the lock: all streams need it
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.versions == nil || len(c.versions) >= maxVersions {
		c.versions = map[sliceKey]string{}
	}
	c.versions[key] = version
	return version
}

// maxShared limits the elements with text of clients in a cached body. With more of them no
// other response is likely to be equal, and comparing them is slow.
const maxShared = 1000

// get returns the body of a message. It does not keep the message.
func (c *bodyCache) get(m *message) *body {
	if len(m.failures)+len(m.removed)+len(m.removedVariants) > maxShared {
		return newBody(m.clone())
	}
	hash := m.hash()
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.bodies[hash].Value(); b != nil && b.message.equal(m) {
		return b
	}
	b := newBody(m.clone())
	if b.size > cacheBytes/4 {
		return b
	}
	if c.size += b.size; c.bodies == nil || c.size > cacheBytes {
		c.bodies, c.size = map[uint64]weak.Pointer[body]{}, b.size
	}
	c.bodies[hash] = weak.Make(b)
	return b
}
