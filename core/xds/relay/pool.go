package relay

import (
	"bytes"
	"runtime"
	"sync"
	"weak"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A pool makes equal resources one resource, so that equal contents are in memory once, and
// are compared as pointers. It keeps nothing alive. It is safe for concurrent use.
type pool struct {
	mu        sync.Mutex
	resources map[content]weak.Pointer[wire.Resource]
	// bodies has the bodies of extensions, which may differ in their names only.
	bodies map[content]weak.Pointer[body]
}

// A body is what extensions share. It is in memory as long as one of them is.
type body struct{ bytes []byte }

// An extension is a resource that keeps its body in the pool.
type extension struct {
	wire.Resource
	shared *body
}

// A content identifies a resource, or with an empty name a body.
type content struct {
	t             wire.Type
	name, version string
}

func newPool() *pool {
	return &pool{resources: map[content]weak.Pointer[wire.Resource]{}, bodies: map[content]weak.Pointer[body]{}}
}

// resource returns the resource with a body, which is kept if there is no equal one.
func (p *pool) resource(t wire.Type, name string, text []byte) *wire.Resource {
	key := content{t, name, wire.VersionOf(text)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.resources[key].Value(); r != nil && bytes.Equal(r.Body, text) {
		return r
	}
	r := &wire.Resource{}
	if t == wire.ExtensionType {
		e := &extension{shared: p.body(key.version, text)}
		r, text = &e.Resource, e.shared.bytes
	}
	*r = wire.Resource{Type: t, Name: name, Version: key.version, Body: text}
	p.resources[key] = weak.Make(r)
	runtime.AddCleanup(r, func(key content) { drop(p, p.resources, key) }, key)
	return r
}

// body returns the body of an extension. The caller holds the lock.
func (p *pool) body(version string, text []byte) *body {
	key := content{wire.ExtensionType, "", version}
	if b := p.bodies[key].Value(); b != nil && bytes.Equal(b.bytes, text) {
		return b
	}
	b := &body{text}
	p.bodies[key] = weak.Make(b)
	runtime.AddCleanup(b, func(key content) { drop(p, p.bodies, key) }, key)
	return b
}

// drop is called after an element was freed. Another one may have taken its place.
func drop[T any](p *pool, from map[content]weak.Pointer[T], key content) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from[key].Value() == nil {
		delete(from, key)
	}
}
