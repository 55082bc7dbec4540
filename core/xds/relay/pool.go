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
	// bodies has a resource for each body of extensions that differ in their names only.
	bodies map[content]weak.Pointer[wire.Resource]
}

// A content identifies a resource, or with an empty name a body.
type content struct {
	t             wire.Type
	name, version string
}

func newPool() *pool {
	return &pool{resources: map[content]weak.Pointer[wire.Resource]{}, bodies: map[content]weak.Pointer[wire.Resource]{}}
}

// resource returns the resource with a body, which is kept if there is no equal one.
func (p *pool) resource(t wire.Type, name string, body []byte) *wire.Resource {
	key := content{t, name, wire.VersionOf(body)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.resources[key].Value(); r != nil && bytes.Equal(r.Body, body) {
		return r
	}
	shared := content{t, "", key.version}
	if r := p.bodies[shared].Value(); r != nil && bytes.Equal(r.Body, body) {
		body = r.Body
	}
	r := &wire.Resource{Type: t, Name: name, Version: key.version, Body: body}
	p.resources[key] = weak.Make(r)
	runtime.AddCleanup(r, func(key content) { p.drop(p.resources, key) }, key)
	if t == wire.ExtensionType && p.bodies[shared].Value() == nil {
		p.bodies[shared] = weak.Make(r)
		runtime.AddCleanup(r, func(key content) { p.drop(p.bodies, key) }, shared)
	}
	return r
}

// drop is called after a resource was freed. Another one may have taken its place.
func (p *pool) drop(from map[content]weak.Pointer[wire.Resource], key content) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from[key].Value() == nil {
		delete(from, key)
	}
}
