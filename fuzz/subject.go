package fuzz

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Inspector answers `inspect dataplane` for one state of the world.
type Inspector func(dp *resource.Dataplane, opt inspect.Options) (any, error)

// Subject makes the Inspector that is compared with the reference; what it
// returns is compared as JSON.
type Subject func(kinds *resource.Kinds, set *resource.Set) (Inspector, error)

// FastPath is what an embedder and the command line use: a view, and its
// answers.
func FastPath(kinds *resource.Kinds, set *resource.Set) (Inspector, error) {
	view, err := core.NewView(kinds, set)
	if err != nil {
		return nil, err
	}
	return func(dp *resource.Dataplane, opt inspect.Options) (any, error) {
		return inspect.NewDataplane(view, dp, opt)
	}, nil
}
