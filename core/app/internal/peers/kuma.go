package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

const kuma = "Kuma"

// effectiveConfs compares how the confs of one dataplane are computed from the policies of a
// mesh: which ones select it, in which order, and what their items merge to.
func effectiveConfs() []comparison {
	const subject = "Effective confs of one dataplane: MeshTimeouts of the fleet, 10 outbounds"
	var list []comparison
	for _, policies := range []int{100, 1_000} {
		input := grouped(policies*9/10) + " policies" // see kumaPolicies
		list = append(list, comparison{
			subject: subject, label: fmt.Sprintf("from nothing, %d", policies), work: "select, order and merge, from nothing", input: input, unit: "s", kuma: true,
			note: "meshmatch validates the set and builds its index in this time, because nothing is kept from before; Kuma's resources are loaded before",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				return confsOfOne(ctx, s.pick(policies, 30), false)
			},
		}, comparison{
			subject: subject, label: fmt.Sprintf("after an edit, %d", policies), work: "the same after one policy has changed", input: input, unit: "s", kuma: true,
			note: "meshmatch's time has the whole edit of the mesh; Kuma does not keep results of a dataplane, and does the same as from nothing",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				return confsOfOne(ctx, s.pick(policies, 30), true)
			},
		})
	}
	return list
}

// kumaPolicies are the policies of the fleet whose kinds of targetRef Kuma's version has: nine
// of ten.
func kumaPolicies(n int) []*resource.Policy {
	var list []*resource.Policy
	for _, p := range shape.Fleet(meshtimeout.Kind(), n) {
		if p.TargetRef.Kind != resource.TargetDataplane {
			list = append(list, p)
		}
	}
	return list
}

// confsOfOne computes the confs of all outbounds of dataplane 7 of the fleet.
func confsOfOne(ctx context.Context, policies int, edited bool) (*contest, error) {
	set := &resource.Set{Dataplanes: []*resource.Dataplane{shape.Dataplane(7, 10)}, Policies: kumaPolicies(policies)}
	compute := func() ([]any, error) {
		engine, err := engineOf(ctx, set)
		if err != nil {
			return nil, err
		}
		return confsIn(engine.View(), set.Dataplanes[0].ID)
	}
	if edited {
		var err error
		if compute, err = editing(ctx, set); err != nil {
			return nil, err
		}
	}
	c := &contest{contenders: []contender{
		{
			name: meshmatch,
			answer: func() (string, error) {
				confs, err := compute()
				if err != nil {
					return "", err
				}
				return confsText(confs)
			},
			operate: repeat(func() error {
				_, err := compute()
				return err
			}),
		},
	}}
	return c, c.addKuma(ctx, set, command{Do: "rules", Dataplanes: []string{set.Dataplanes[0].Name}}, confsText)
}

// engineOf returns an engine that reads policies as Kuma does.
func engineOf(ctx context.Context, set *resource.Set) (*core.Engine, error) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: semantics.Kuma})
	_, err := engine.Apply(ctx, core.Batch{Upsert: set})
	return engine, err
}

// editing returns a function that changes a policy that selects the dataplane, and undoes
// that, in turn. The first call leaves what the set has.
func editing(ctx context.Context, set *resource.Set) (func() ([]any, error), error) {
	engine, err := engineOf(ctx, set)
	if err != nil {
		return nil, err
	}
	original := set.Policies[0] // of the whole mesh
	changed := *original
	changed.To = []resource.Item{{TargetRef: original.To[0].TargetRef, Conf: shape.Timeout(1)}}
	sides := [2]core.Batch{
		{Upsert: &resource.Set{Policies: []*resource.Policy{original}}},
		{Upsert: &resource.Set{Policies: []*resource.Policy{&changed}}},
	}
	if _, err := engine.Apply(ctx, sides[1]); err != nil {
		return nil, err
	}
	side := 0
	return func() ([]any, error) {
		if _, err := engine.Apply(ctx, sides[side]); err != nil {
			return nil, err
		}
		side = 1 - side
		return confsIn(engine.View(), set.Dataplanes[0].ID)
	}, nil
}

func confsIn(view *core.View, id resource.ID) ([]any, error) {
	config, err := view.Config(view.Dataplane(id), meshtimeout.Kind().Name, core.Enforced)
	if err != nil {
		return nil, err
	}
	confs := make([]any, len(config.Outbounds))
	for i, out := range config.Outbounds {
		if out.Effective == nil {
			continue
		}
		if confs[i], err = results.ConfOf[meshtimeout.Conf](out.Effective); err != nil {
			return nil, err
		}
	}
	return confs, nil
}

// confsText returns confs of both sides in one form: JSON with sorted keys, without
// empty objects.
func confsText[T any](confs []T) (string, error) {
	var text strings.Builder
	for _, conf := range confs {
		data, err := json.Marshal(conf)
		if err != nil {
			return "", err
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			return "", err
		}
		if data, err = json.Marshal(pruned(value)); err != nil {
			return "", err
		}
		text.Write(append(data, '\n'))
	}
	return text.String(), nil
}

// pruned removes null and empty objects, and writes durations in one way: 1m as 1m0s.
func pruned(value any) any {
	if text, ok := value.(string); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d.String()
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for key, v := range object {
		if v = pruned(v); v == nil {
			delete(object, key)
		} else {
			object[key] = v
		}
	}
	if len(object) == 0 {
		return nil
	}
	return object
}
