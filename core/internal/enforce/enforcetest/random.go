package enforcetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/choices"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Choices makes resources from the decisions of [choices.Choices].
type Choices struct{ *choices.Choices }

// NewChoices returns the choices of some bytes.
func NewChoices(data []byte) *Choices { return &Choices{choices.New(data)} }

func pick[T any](c *Choices, from ...T) T { return choices.Pick(c.Choices, from...) }

// some returns some of the words, possibly none.
func (c *Choices) some(words ...string) []string {
	bits := c.Below(1 << len(words))
	list := []string{}
	for i, word := range words {
		if bits&(1<<i) != 0 {
			list = append(list, word)
		}
	}
	return list
}

var clusters = []string{"a", "b", "c", "d"}

// Resource returns a resource over a small alphabet, so that references and identities
// often coincide.
func (c *Choices) Resource() ocm.Resource {
	namespace := pick(c, "", "", "", "", "", "", "ns")
	meta := func(kind string, names ...string) resource.Meta {
		return resource.Meta{ID: resource.ID{Kind: kind, Namespace: namespace, Name: pick(c, names...)}}
	}
	switch c.Below(10) {
	case 0:
		return &ocm.Policy{
			Meta:   meta(ocm.PolicyKind, "p", "q"),
			Action: pick(c, ocm.Inform, ocm.Inform, ocm.Enforce, ocm.InformOnly), Disabled: c.Below(8) == 1,
		}
	case 1:
		set := &ocm.PolicySet{Meta: meta(ocm.PolicySetKind, "s", "t"), Policies: c.some("p", "q")}
		for range c.Below(3) {
			set.Exclusions = append(set.Exclusions, ocm.Exclusion{Policy: pick(c, "p", "q"), Clusters: c.some(clusters...)})
		}
		return set
	case 2:
		cluster := &ocm.ManagedCluster{Meta: meta(ocm.ManagedClusterKind, clusters...)}
		cluster.Namespace, cluster.Labels = "", c.labels()
		return cluster
	case 3:
		return &ocm.Placement{Meta: meta(ocm.PlacementKind, "x", "y")}
	case 4:
		return &ocm.PlacementDecision{
			Meta: meta(ocm.PlacementDecisionKind, "x-1", "x-2", "y-1"), Placement: pick(c, "x", "y"), Clusters: c.some(clusters...),
		}
	case 5, 6:
		return c.rule(meta(ocm.PlacementRuleKind, "x", "y"))
	}
	return c.binding(meta(ocm.PlacementBindingKind, "b1", "b2", "b3", "b4"))
}

func (c *Choices) rule(meta resource.Meta) *ocm.PlacementRule {
	r := &ocm.PlacementRule{Meta: meta}
	if c.Below(2) == 0 {
		r.Clusters = c.some(clusters...)
	}
	if c.Below(2) == 0 {
		r.ClusterSelector = c.selector()
	}
	if c.Below(3) == 0 {
		r.DataplaneSelector = c.selector()
	}
	if c.Below(4) == 3 {
		r.Dataplanes = c.dataplanes()
	}
	if c.Below(4) == 0 {
		r.Decided, r.Decisions = true, c.some(clusters...)
	}
	return r
}

// dataplanes returns names of some dataplanes of [MeshSet], and names of other
// dataplanes.
func (c *Choices) dataplanes() []ocm.DataplaneName {
	list := []ocm.DataplaneName{}
	for range c.Below(6) {
		list = append(list, ocm.DataplaneName{
			Mesh: pick(c, "m", "m", "m", "n"), Namespace: pick(c, "", "", "", "ns"), Name: fmt.Sprintf("dp-%d-%d", c.Below(5), c.Below(4)),
		})
	}
	return list
}

func (c *Choices) selector() *ocm.LabelSelector {
	if c.Below(3) == 0 {
		return &ocm.LabelSelector{}
	}
	s := &ocm.LabelSelector{Labels: c.labels()}
	for range c.Below(3) {
		e := ocm.Requirement{Key: pick(c, "k", "l"), Operator: pick(c, ocm.In, ocm.NotIn, ocm.Exists, ocm.DoesNotExist)}
		if e.Operator == ocm.In || e.Operator == ocm.NotIn {
			e.Values = append(c.some("1", "2"), "3")
		}
		s.Expressions = append(s.Expressions, e)
	}
	return s
}

func (c *Choices) labels() resource.Tags {
	labels := map[string]string{}
	for _, key := range c.some("k", "l") {
		labels[key] = pick(c, "1", "2", "3")
	}
	return resource.NewTags(labels)
}

func (c *Choices) binding(meta resource.Meta) *ocm.PlacementBinding {
	b := &ocm.PlacementBinding{
		Meta:      meta,
		Placement: ocm.Ref{Kind: pick(c, ocm.PlacementRuleKind, ocm.PlacementKind), Name: pick(c, "x", "y")},
		Enforce:   c.Below(2) == 0,
		SubFilter: c.Below(2) == 0,
	}
	if c.Below(6) == 1 {
		b.Labels = resource.Tags{{Key: resource.MeshLabel, Value: pick(c, "m", "n")}}
	}
	for range 1 + c.Below(2) {
		b.Subjects = append(b.Subjects, pick(c,
			ocm.Subject{Ref: ocm.Ref{Kind: ocm.PolicyKind, Name: "p"}},
			ocm.Subject{Ref: ocm.Ref{Kind: ocm.PolicyKind, Name: "q"}},
			ocm.Subject{Ref: ocm.Ref{Kind: ocm.PolicySetKind, Name: "s"}},
			ocm.Subject{Ref: ocm.Ref{Kind: ocm.PolicySetKind, Name: "t"}},
			ocm.Subject{Ref: ocm.Ref{Kind: "MeshTimeout", Name: "p"}, Mesh: true},
			ocm.Subject{Ref: ocm.Ref{Kind: "MeshTimeout", Name: "q"}, Mesh: true},
		))
	}
	return b
}

// MeshSet returns dataplanes of every zone and combination of labels, and policies, some
// of which have the shadow label. Each policy sets a different field.
func MeshSet() *resource.Set {
	set := &resource.Set{}
	for i, zone := range append([]string{""}, clusters...) {
		for j, labels := range []map[string]string{{}, {"k": "1"}, {"k": "2", "l": "1"}, {"l": "3"}} {
			d := &resource.Dataplane{Address: "10.0.0.1", Inbounds: []resource.Inbound{
				{Port: 80, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "web"})},
				{Port: 81, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "web"})},
			}, Outbounds: []resource.Outbound{{Port: 9000, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "api"})}}}
			d.ID = resource.ID{Kind: resource.DataplaneKind, Mesh: "m", Name: fmt.Sprintf("dp-%d-%d", i, j)}
			labels := maps.Clone(labels)
			if zone != "" && j%2 == 0 {
				labels[resource.ZoneTag] = zone
			} else if zone != "" {
				d.Inbounds[1].Tags = resource.NewTags(map[string]string{resource.ServiceTag: "web", resource.ZoneTag: zone})
			}
			d.Labels = resource.NewTags(labels)
			set.Dataplanes = append(set.Dataplanes, d)
		}
	}
	second := conf.Duration(time.Second)
	for i, id := range []resource.ID{{Name: "p"}, {Name: "q"}, {Name: "p", Namespace: "ns"}} {
		id.Kind, id.Mesh = "MeshTimeout", "m"
		p := &resource.Policy{Type: meshtimeout.Kind(), TargetRef: resource.TargetRef{Kind: resource.TargetMesh}}
		p.ID = id
		p.To = []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: []*meshtimeout.Conf{
			{ConnectionTimeout: &second}, {IdleTimeout: &second}, {HTTP: &meshtimeout.HTTP{RequestTimeout: &second}},
		}[i]}}
		if id.Name == "p" {
			p.Labels = resource.Tags{{Key: resource.EffectLabel, Value: "shadow"}}
		}
		set.Policies = append(set.Policies, p)
	}
	return set
}

// World contains resources by identity.
type World map[resource.ID]ocm.Resource

// Resources returns the resources in no particular order.
func (w World) Resources() *ocm.Resources {
	r := &ocm.Resources{}
	for _, one := range w {
		r.Add(one)
	}
	return r
}

// Hub returns the resources for the reference.
func (w World) Hub() *naive.Hub {
	hub := &naive.Hub{}
	text, err := json.Marshal(w.Resources())
	if err == nil {
		err = json.Unmarshal(text, hub)
	}
	if err != nil {
		panic(fmt.Sprintf("enforcetest: the reference cannot read the resources: %v", err))
	}
	return hub
}
