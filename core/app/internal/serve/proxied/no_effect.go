package proxied

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// NoEffect returns the fields of the confs of a dataplane that its Envoy does not get, for
// the options of an answer about the same view.
func NoEffect(state *snapshot.State, d *resource.Dataplane) []inspect.NoEffect {
	return lists.Map(state.NoEffect(d), func(n snapshot.NoEffect) inspect.NoEffect { return inspect.NoEffect(n) })
}

// NoEffectInMesh is [NoEffect] for an answer about a mesh, whose proxies are of Kuma in the
// semantics of Kuma 2.
func NoEffectInMesh(state *snapshot.State, d *resource.Dataplane) []inspect.NoEffect {
	return slices.DeleteFunc(NoEffect(state, d), func(n inspect.NoEffect) bool { return n.OfKuma })
}
