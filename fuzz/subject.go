package fuzz

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Subject makes what is compared with the reference, for one state of the
// world.
type Subject func(kinds *resource.Kinds, set *resource.Set) (Answers, error)

// Answers is asked for what the command line prints (SPEC 10). What it returns
// is compared as JSON.
type Answers interface {
	// Inspect answers `inspect dataplane`.
	Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error)
	// Permissions returns what `access` asks about an inbound, or nil where no
	// policy says anything about the dataplane.
	Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions
}

// FastPath is what an embedder and the command line use: a view, and its
// answers.
func FastPath(kinds *resource.Kinds, set *resource.Set) (Answers, error) {
	view, err := core.NewView(kinds, set)
	if err != nil {
		return nil, err
	}
	return viewAnswers{view}, nil
}

type viewAnswers struct{ *core.View }

func (v viewAnswers) Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error) {
	return inspect.NewDataplane(v.View, dp, opt)
}

func (v viewAnswers) Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions {
	for _, config := range v.Configs(dp, core.Scope{Kind: permissionKind, Shadow: shadow}) {
		return permission.Of(config, dp, inbound)
	}
	return nil
}
