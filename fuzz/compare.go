package fuzz

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareConfigs checks that the engine and the reference have the same confs for every
// dataplane of a scenario, with and without the policies that only inform. The error
// contains the first difference.
func compareConfigs(s *Scenario) error {
	set, err := s.Load()
	if err != nil {
		return fmt.Errorf("the scenario does not load: %w", err)
	}
	return compareSet(s, set)
}

// compareSet is compareConfigs for the set of a scenario.
func compareSet(s *Scenario, set *resource.Set) error {
	return caught(func() error {
		view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), s.kinds, set)
		if err != nil {
			return fmt.Errorf("the engine refuses the scenario: %w", err)
		}
		hub := s.Hub()
		for _, d := range set.Dataplanes {
			for _, shadow := range []bool{false, true} {
				c := &comparison{s.kinds, set, view, d, naive.Options{Shadow: shadow, Explain: true, Hub: hub, Merge: s.merge}}
				if err := c.compare(); err != nil {
					return fmt.Errorf("dataplane %q of namespace %q in mesh %q, shadow %v: %w", d.Name, d.Namespace, d.Mesh, shadow, err)
				}
			}
		}
		return nil
	})
}

// caught calls check and returns a panic as an error, so that a scenario that
// causes a panic is shrunk and reported like any other failure.
func caught(check func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it panics: %v\n%s", cause, debug.Stack())
		}
	}()
	return check()
}

// comparison compares the confs of one dataplane.
type comparison struct {
	kinds *resource.Kinds
	set   *resource.Set
	view  *core.View
	dp    *resource.Dataplane
	opt   naive.Options
}

func (c *comparison) compare() error {
	scope := core.Enforced
	if c.opt.Shadow {
		scope = core.Shadow
	}
	answer, err := naive.Inspect(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.opt)
	if err != nil {
		return fmt.Errorf("the reference fails: %w", err)
	}
	reference := map[string]any{}
	for _, policy := range answer["policies"].([]any) {
		reference[policy.(map[string]any)["kind"].(string)] = confsOf(policy.(map[string]any))
	}
	for _, kind := range c.kinds.All() {
		config, err := c.view.Config(c.dp, kind.Name, scope)
		if err != nil {
			return fmt.Errorf("the engine fails: %w", err)
		}
		var got any
		if config.Matched.Len() > 0 {
			got = configTree(config, c.dp)
		}
		if diff := Difference(reference[kind.Name], got); diff != "" {
			return fmt.Errorf("the confs of %s differ %s", kind.Name, diff)
		}
		if err := c.compareClients(config); err != nil {
			return err
		}
	}
	return nil
}

// compareClients compares the conf of each client that the `from` items of an inbound
// distinguish (SPEC 5.1).
func (c *comparison) compareClients(config *results.Config) error {
	if config.Kind.From == nil {
		return nil
	}
	for i, inbound := range config.Inbounds {
		if c.isHidden(i) {
			continue
		}
		opt, name := c.opt, c.dp.Inbounds[i].SectionName()
		opt.Kind = config.Kind.Name
		from, err := naive.FromOf(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, name, opt)
		if err != nil {
			return fmt.Errorf("the reference fails: %w", err)
		}
		for _, tags := range from.Clients() {
			got := map[string]any{}
			if inbound != nil && inbound.From != nil {
				got = effectiveTree(inbound.From.Client(tags))
			}
			if diff := Difference(only(from.C(tags), confParts...), got); diff != "" {
				return fmt.Errorf("the confs of %s for client %v of inbound %s differ %s", config.Kind.Name, tags, name, diff)
			}
		}
	}
	return nil
}

// isHidden reports whether an earlier inbound has the same name, so that no query can
// name this one.
func (c *comparison) isHidden(i int) bool {
	for j := range i {
		if c.dp.Inbounds[j].SectionName() == c.dp.Inbounds[i].SectionName() {
			return true
		}
	}
	return false
}
