package relay

import (
	"runtime"
	"testing"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Extensions with equal bodies share the bytes, also with those that were made after the first
// one was freed. A pool keeps nothing alive.
func TestBodiesOfExtensionsAreShared(t *testing.T) {
	p := new(pool)
	get := func(name string) *wire.Resource {
		return p.resource(wire.ExtensionType, name, []byte("the permissions of all inbounds"))
	}
	first, second := get("permission/a"), get("permission/b")
	if first == second || &first.Body[0] != &second.Body[0] {
		t.Error("two extensions do not share their bytes")
	}
	if again := get("permission/a"); again != first {
		t.Error("an equal extension is another resource")
	}
	if other := p.resource(wire.ExtensionType, "permission/c", []byte("other permissions")); string(other.Body) != "other permissions" || other.Version == first.Version {
		t.Errorf("an extension with other permissions has %q", other.Body)
	}
	freed := func(resources, bodies int) bool {
		for range 100 {
			runtime.GC()
			runtime.Gosched()
			if p.resources.Len() == resources && p.bodies.Len() == bodies {
				return true
			}
		}
		return false
	}
	runtime.KeepAlive(first)
	first = nil
	if !freed(1, 1) {
		t.Error("the first extension is still in the pool")
	}
	if third := get("permission/d"); &third.Body[0] != &second.Body[0] {
		t.Error("after the first one was freed, an extension does not share the bytes of the others")
	}
	runtime.KeepAlive(second)
	second = nil
	if !freed(0, 0) {
		t.Error("the pool keeps what is not in use")
	}
}

// A body whose hash collides with the hash of another body is served as it is.
func TestCollidingBodies(t *testing.T) {
	p := new(pool)
	other := &wire.Resource{Body: []byte("other")}
	version := wire.VersionOf([]byte("text"))
	p.resources.Get(content{wire.ClusterType, "cluster", version}, func() *wire.Resource { return other })
	shared := p.bodies.Get(version, func() *body { return &body{[]byte("other")} })
	for _, r := range []*wire.Resource{
		p.resource(wire.ClusterType, "cluster", []byte("text")),
		p.resource(wire.ExtensionType, "permission", []byte("text")),
	} {
		if string(r.Body) != "text" || r.Version != version {
			t.Errorf("%s %s has the body %q", r.Type, r.Name, r.Body)
		}
	}
	runtime.KeepAlive(other)
	runtime.KeepAlive(shared)
}
