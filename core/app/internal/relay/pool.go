package relay

import (
	"bytes"

	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A pool makes equal resources one resource, so that equal contents are in memory once, and
// are compared as pointers. It keeps nothing alive. It is safe for concurrent use. The zero
// pool is empty.
type pool struct {
	resources weakcache.Cache[content, wire.Resource]
	// bodies has the bodies of extensions, which may differ in their names only.
	bodies weakcache.Cache[string, body] // by version
}

// A body is what extensions share. It is in memory as long as one of them is.
type body struct{ bytes []byte }

// An extension is a resource that keeps its body in the pool.
type extension struct {
	wire.Resource
	shared *body
}

// A content identifies a resource.
type content struct {
	t             wire.Type
	name, version string
}

// resource returns the resource with a body, which is kept if there is no equal one. If two
// bodies have the same version, because an upstream made their hashes collide, the second
// resource is not in the pool.
func (p *pool) resource(t wire.Type, name string, text []byte) *wire.Resource {
	key := content{t, name, wire.VersionOf(text)}
	r := p.resources.Get(key, func() *wire.Resource { return p.newResource(key, text) })
	if !bytes.Equal(r.Body, text) {
		return p.newResource(key, text)
	}
	return r
}

// newResource returns a resource that is not in the pool. Its body is, if it is an
// extension.
func (p *pool) newResource(key content, text []byte) *wire.Resource {
	r := wire.Resource{Type: key.t, Name: key.name, Version: key.version, Body: text, Peers: p.peersOf(key.t, key.name, text)}
	if key.t != wire.ExtensionType {
		return &r
	}
	shared := p.bodies.Get(key.version, func() *body { return &body{text} })
	if !bytes.Equal(shared.bytes, text) {
		return &r
	}
	r.Body = shared.bytes
	return &(&extension{Resource: r, shared: shared}).Resource
}
