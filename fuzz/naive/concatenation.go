package naive

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Concatenation contains the `to` or `from` items of the ordered policies (SPEC
// 4.1). The tags of an outbound or a client select items from it.
type Concatenation struct {
	mesh    *mesh
	items   []item
	targets []*resource.TargetRef // parallel to items
	to      []matched             // the policies, for outbounds; nil: for clients
}

// FromOf returns the concatenation for the clients of an inbound. It is empty if
// rules apply instead (SPEC 5.6). The kind is opt.Kind.
func FromOf(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name, inbound string, opt Options) (*Concatenation, error) {
	m, matching, dp, err := matchingOf(kinds, set, meshName, namespace, name, opt)
	if err != nil {
		return nil, err
	}
	i, err := findInbound(dp, inbound)
	if err != nil {
		return nil, err
	}
	return m.fromOf(selectingInbound(matching, i)), nil
}

// FromOfListener is FromOf for a listener of a zone proxy, given by its index.
func FromOfListener(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, listener int, opt Options) (*Concatenation, error) {
	m, matching, _, err := matchingOf(kinds, set, meshName, namespace, name, opt)
	if err != nil {
		return nil, err
	}
	return m.fromOf(selectingListener(matching, listener)), nil
}

func (m *mesh) fromOf(policies []*resource.Policy) *Concatenation {
	c := &Concatenation{mesh: m}
	if haveRules(policies) || m.kuma3() || len(policies) > 0 && m.fromIsRule(policies[0].Type) {
		return c
	}
	c.addFrom(policies)
	return c
}

// ToOf returns the concatenation for the outbounds of a dataplane, including outbounds
// that it does not have (SPEC 4.5). The kind is opt.Kind.
func ToOf(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (*Concatenation, error) {
	m, matching, _, err := matchingOf(kinds, set, meshName, namespace, name, opt)
	if err != nil {
		return nil, err
	}
	c := &Concatenation{mesh: m, to: matching}
	for _, p := range matching {
		if targetsRoute(p.Policy) || m.missesTags(p.Policy) {
			continue
		}
		for i := range p.To {
			c.targets = append(c.targets, &p.To[i].TargetRef)
		}
	}
	return c, nil
}

func matchingOf(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (*mesh, []matched, *resource.Dataplane, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, nil, nil, err
	}
	kind, err := findKind(kinds, opt.Kind)
	if err != nil {
		return nil, nil, nil, err
	}
	m := newMesh(set, meshName, opt)
	dp = m.proxy(dp)
	return m, m.matching(kind, dp), dp, nil
}

func (c *Concatenation) addFrom(policies []*resource.Policy) {
	for _, p := range policies {
		for i := range p.From {
			c.items = append(c.items, item{p, i, p.From[i].Conf})
			c.targets = append(c.targets, &p.From[i].TargetRef)
		}
	}
}

// selecting returns the items that select the given tags (SPEC 4.2, 5.1).
func (c *Concatenation) selecting(tags resource.Tags) []item {
	if c.to != nil {
		return c.mesh.toItems(c.to, &traffic{tags: tags})
	}
	var items []item
	for i, target := range c.targets {
		if selectsTags(target, tags) {
			items = append(items, c.items[i])
		}
	}
	return items
}

// C returns the C of SPEC 10 for an outbound or a client with the given tags:
// the merge, in order, of every item that selects it (SPEC 4.2, 5.1). It is
// empty if no item does.
func (c *Concatenation) C(tags map[string]string) map[string]any {
	answer := map[string]any{}
	c.mesh.addConf(answer, c.selecting(resource.NewTags(tags)))
	return answer
}

// Items returns the KRI and index of every item that selects the given tags, in
// order, overridden or not.
func (c *Concatenation) Items(tags map[string]string) []map[string]any {
	var places []map[string]any
	for _, item := range c.selecting(resource.NewTags(tags)) {
		places = append(places, c.mesh.origin(item))
	}
	return places
}

// RequiredTags returns, for each tag key that an item requires, the required values
// except *. Clients with the same values for these keys get the same conf (SPEC 5.3).
func (c *Concatenation) RequiredTags() map[string][]string {
	required := map[string][]string{}
	for _, target := range c.targets {
		for _, tag := range askedBy(target) {
			values := required[tag.Key] // any value adds the key
			if tag.Value != "*" {
				values = append(values, tag.Value)
			}
			required[tag.Key] = values
		}
	}
	for key, values := range required {
		required[key] = distinct(values)
	}
	return required
}

// Clients returns one set of tags for each combination that the required keys and values
// distinguish: per key each value, another value, and absent (SPEC 5.3).
func (c *Concatenation) Clients() []map[string]string {
	clients := []map[string]string{{}}
	required := c.RequiredTags()
	for _, key := range slices.Sorted(maps.Keys(required)) {
		var next []map[string]string
		for _, client := range clients {
			next = append(next, client)
			for _, value := range append(slices.Clone(required[key]), "another") {
				with := maps.Clone(client)
				with[key] = value
				next = append(next, with)
			}
		}
		clients = next
	}
	return clients
}

// RequiresAtMostOneTag reports whether every item requires at most one tag. If so, the
// disjoint form is minimal (SPEC 5.4).
func (c *Concatenation) RequiresAtMostOneTag() bool {
	for _, target := range c.targets {
		if len(askedBy(target)) > 1 {
			return false
		}
	}
	return true
}

func askedBy(ref *resource.TargetRef) []resource.Tag {
	var tags []resource.Tag
	if ref.Kind == resource.TargetMeshService || ref.Kind == resource.TargetMeshServiceSubset {
		tags = append(tags, resource.Tag{Key: serviceTag, Value: ref.Name})
	}
	for _, tag := range ref.Tags {
		tags = append(tags, tag)
	}
	return tags
}

// selectsTags reports whether an item of `to` or `from` selects the outbound
// or client with these tags (SPEC 4.2, 5.1).
func selectsTags(ref *resource.TargetRef, tags resource.Tags) bool {
	switch ref.Kind {
	case resource.TargetMesh:
		return true
	case resource.TargetMeshSubset:
		return hold(ref.Tags, tags)
	case resource.TargetMeshService:
		if ref.Namespace != "" || len(ref.Labels) > 0 || ref.SectionName != "" {
			return false // it refers to a MeshService resource (SPEC 17.3)
		}
		return isService(ref.Name, tags)
	case resource.TargetMeshServiceSubset:
		return isService(ref.Name, tags) && hold(ref.Tags, tags)
	}
	return false // a route is not an outbound
}

// haveRules reports whether any policy has rules. If so, `from` is ignored (SPEC 5.6).
func haveRules(policies []*resource.Policy) bool {
	for _, p := range policies {
		if len(p.Rules) > 0 {
			return true
		}
	}
	return false
}

func haveFrom(policies []*resource.Policy) bool {
	for _, p := range policies {
		if len(p.From) > 0 {
			return true
		}
	}
	return false
}
