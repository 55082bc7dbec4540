package why

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// alone computes the configuration of a dataplane with a single policy of a
// kind.
type alone struct {
	engine   *core.Engine
	d        *resource.Dataplane
	kind     *resource.Kind
	previous []resource.ID // the policy that is in the engine
}

// newAlone makes an engine with the resources on which the outbounds and routes of a
// dataplane depend.
func newAlone(ctx context.Context, view *core.View, d *resource.Dataplane, kind *resource.Kind) (*alone, error) {
	set := &resource.Set{
		Dataplanes: []*resource.Dataplane{d},
		Objects:    slices.Concat(view.Objects(d.Mesh), view.Objects("")),
	}
	if mesh := view.Mesh(d.Mesh); mesh != nil {
		set.Meshes = append(set.Meshes, mesh)
	}
	set.Policies = lists.Filter(view.Policies(d.Mesh), func(p *resource.Policy) bool { return p.IsRoute() && p.Type != kind })
	a := &alone{engine: core.NewEngine(view.Kinds(), view.Options()), d: d, kind: kind}
	_, err := a.engine.Apply(ctx, core.Batch{Upsert: set})
	return a, err
}

// fields returns the fields that a policy sets.
func (a *alone) fields(ctx context.Context, p *resource.Policy) (*setFields, error) {
	batch := core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{p}}}
	if len(a.previous) > 0 && a.previous[0] != p.ID {
		batch.Delete = a.previous
	}
	if _, err := a.engine.Apply(ctx, batch); err != nil {
		return nil, err
	}
	a.previous = []resource.ID{p.ID}
	view := a.engine.View()
	config, err := view.Config(a.d, a.kind.Name, core.Shadow) // without its bindings, the policy may only inform
	if err != nil {
		return nil, err
	}
	return newSetFields(view, config, a.d, core.Shadow, partition.Limits{}), nil
}
