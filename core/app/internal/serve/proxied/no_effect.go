package proxied

import (
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// NoEffect returns the fields of the confs of a dataplane that its Envoy does not get, for
// the options of an answer about the same view.
func NoEffect(state *snapshot.State, d *resource.Dataplane) (list []inspect.NoEffect) {
	for _, n := range state.NoEffect(d) {
		list = append(list, inspect.NoEffect(n))
	}
	return list
}
