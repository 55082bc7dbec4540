package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// comparePolicyVariants compares the variants that package variant compiles from the
// policies of a scenario with the results of the engine and the reference: for each kind
// and destination, for the dataplanes with one inbound, and for random parameters that
// describe a dataplane that does not exist (SPEC 12.4). Policies are read by a semantics.
func comparePolicyVariants(by semantics.Semantics, s *fuzz.Scenario) error {
	set, err := s.Load()
	if err != nil {
		return fmt.Errorf("the scenario does not load: %w", err)
	}
	view, err := core.Options{Semantics: cmp.Or(by, core.TargetRef)}.NewView(context.Background(), s.Kinds(), set)
	if err != nil {
		return err
	}
	c := &policyVariants{kinds: s.Kinds(), set: set, hub: s.Hub(), view: view, random: rand.New(rand.NewPCG(s.Seed(), 12))}
	c.mention()
	for _, kind := range s.Kinds().All() {
		if kind.To == nil {
			continue
		}
		for _, mesh := range view.Meshes() {
			compiler := variant.NewPolicyCompiler(view, mesh, kind)
			for _, d := range c.destinations(mesh) {
				if err := c.compare(compiler, kind, d); err != nil {
					return fmt.Errorf("%s for %s: %w", kind.Name, d.Name(), err)
				}
			}
		}
	}
	return nil
}

type policyVariants struct {
	kinds     *resource.Kinds
	set       *resource.Set
	hub       *naive.Hub
	view      *core.View
	random    *rand.Rand
	mentioned []resource.Tag // keys and values of parameters that policies or dataplanes mention
}

// mention collects the keys and values from which random parameters are made.
func (c *policyVariants) mention() {
	for _, p := range c.set.Policies {
		t := &p.TargetRef
		for _, tag := range t.Selector() {
			c.mentioned = append(c.mentioned, tag)
		}
		for _, label := range t.Labels {
			c.mentioned = append(c.mentioned, resource.Tag{Key: "@label/" + label.Key, Value: label.Value})
		}
		named := map[string]string{"@namespace": t.Namespace, "@section": t.SectionName}
		if c.view.Semantics() != semantics.TargetRef {
			// Kuma's control planes write these labels. A dataplane with a namespace has a
			// transparent proxy, and no outbounds of its own.
			named = map[string]string{"@section": t.SectionName, "@label/kuma.io/origin": "zone"}
			for _, key := range []string{"kuma.io/zone", "kuma.io/display-name", "k8s.kuma.io/namespace"} {
				named["@label/"+key] = p.Labels.Value(key)
			}
		}
		for key, value := range named {
			if value != "" {
				c.mentioned = append(c.mentioned, resource.Tag{Key: key, Value: value})
			}
		}
		if t.Kind == resource.TargetDataplane && t.Name != "" {
			c.mentioned = append(c.mentioned, resource.Tag{Key: "@name", Value: t.Name})
		}
	}
	slices.SortFunc(c.mentioned, func(a, b resource.Tag) int { return compareTags(a, b) })
}

func compareTags(a, b resource.Tag) int {
	switch {
	case a.Key+"\x00"+a.Value < b.Key+"\x00"+b.Value:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func (c *policyVariants) parameters() variant.Parameters {
	p := variant.Parameters{"irrelevant": "x"}
	for _, tag := range c.mentioned {
		if _, has := p[tag.Key]; has || c.random.IntN(3) == 0 {
			continue
		}
		p[tag.Key] = tag.Value
		if tag.Value == resource.AnyValue || c.random.IntN(5) == 0 {
			p[tag.Key] = "another"
		}
	}
	return p
}

// destinations returns the destinations of the outbounds of a mesh.
func (c *policyVariants) destinations(mesh string) []variant.Destination {
	var all []variant.Destination
	for _, dp := range c.view.Dataplanes(mesh) {
		for _, out := range dp.Outbounds {
			if !slices.ContainsFunc(all, func(d variant.Destination) bool { return slices.Equal(d.Tags, out.Tags) }) {
				all = append(all, variant.Destination{Mesh: mesh, Tags: out.Tags})
			}
		}
	}
	return all
}

func (c *policyVariants) compare(compiler *variant.PolicyCompiler, kind *resource.Kind, d variant.Destination) error {
	variants, err := compiler.Compilation(d).Compile(variant.MaxPolicyVariants)
	if err != nil {
		return err
	}
	for i, content := range variants.Contents {
		for _, other := range variants.Contents[:i] {
			if content.Equal(other, kind) {
				return fmt.Errorf("two variants have the content %v", content)
			}
		}
	}
	for _, dp := range c.view.Dataplanes(d.Mesh) {
		out := slices.IndexFunc(dp.Outbounds, func(o resource.Outbound) bool { return slices.Equal(o.Tags, d.Tags) })
		if out < 0 || len(dp.Inbounds) != 1 || len(dp.Listeners) > 0 {
			continue // parameters describe one inbound, and policies of Kuma select zone proxies by their listeners, too
		}
		p := variant.ParametersOf(dp, 0)
		if err := c.compareEngine(variants, kind, dp, out, p); err != nil {
			return fmt.Errorf("dataplane %s, %s: %w", dp.Name, variant.FormatParameters(p), err)
		}
	}
	for range 5 {
		p := c.parameters()
		dp := DescribedDataplane(d.Mesh, p, d.Tags)
		if err := c.compareEngine(variants, kind, dp, 0, p); err != nil {
			return fmt.Errorf("%s: %w", variant.FormatParameters(p), err)
		}
		if err := c.compareReference(variants, kind, dp, p); err != nil {
			return fmt.Errorf("%s: %w", variant.FormatParameters(p), err)
		}
	}
	return nil
}

// compareEngine compares the chosen content with the result of the engine.
func (c *policyVariants) compareEngine(v *variant.PolicyVariants, kind *resource.Kind, dp *resource.Dataplane, outbound int, p variant.Parameters) error {
	config, err := c.view.Config(dp, kind.Name, core.Enforced)
	if err != nil {
		return err
	}
	want := variant.ContentOf(config, outbound)
	if got := v.Choose(p); !got.Equal(want, kind) {
		return fmt.Errorf("the variant has %s, the engine %s", c.text(got), c.text(want))
	}
	return nil
}

// compareReference compares the chosen content with the result of the reference, as
// JSON. It shares no code with the fast path.
func (c *policyVariants) compareReference(v *variant.PolicyVariants, kind *resource.Kind, dp *resource.Dataplane, p variant.Parameters) error {
	described := *c.set // including its placements
	described.Dataplanes = []*resource.Dataplane{dp}
	answer, err := naive.Inspect(c.kinds, &described, dp.Mesh, dp.Namespace, dp.Name, naive.Options{Kind: kind.Name, Semantics: c.view.Semantics().String(), Hub: c.hub})
	if err != nil {
		return err
	}
	var conf any
	routes := map[string]any{}
	for _, policy := range answer["policies"].([]any) { // at most one
		outbound := policy.(map[string]any)["outbounds"].([]any)[0].(map[string]any)
		conf = outbound["conf"]
		list, _ := outbound["routes"].([]any)
		for _, route := range list {
			if route := route.(map[string]any); route["conf"] != nil {
				routes[route["route"].(string)] = route["conf"]
			}
		}
	}
	want := jsonText(map[string]any{"conf": conf, "routes": routes})
	if got := c.text(v.Choose(p)); got != want {
		return fmt.Errorf("the variant has %s, the reference %s", got, want)
	}
	return nil
}

// text returns a content as JSON, with routes as answers name them.
func (c *policyVariants) text(content *variant.PolicyContent) string {
	routes := map[string]any{}
	for _, r := range content.Routes {
		routes[c.view.Semantics().KRI(r.Route.KRI(), &r.Route.Meta)] = r.Conf
	}
	return jsonText(map[string]any{"conf": content.Conf, "routes": routes})
}

// jsonText returns JSON with sorted keys.
func jsonText(v any) string {
	data, err := conf.Marshal(v)
	var tree any
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err == nil {
		data, err = conf.Marshal(tree)
	}
	if err != nil {
		return err.Error()
	}
	return string(data)
}
