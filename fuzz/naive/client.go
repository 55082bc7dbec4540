package naive

import "github.com/meshmatch/meshmatch/core/resource"

// Client returns the C of SPEC 10 for a client with the given tags: the merge,
// in order, of every item of `from` that selects it (SPEC 5.1). It is empty
// where no item does, and where rules count instead (SPEC 5.6). The kind is
// opt.Kind.
func Client(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name, inbound string, tags map[string]string, opt Options) (map[string]any, error) {
	clients, err := ClientsOf(kinds, set, meshName, namespace, name, inbound, opt)
	if err != nil {
		return nil, err
	}
	return clients.C(tags), nil
}

// Clients answers for many clients of one inbound.
type Clients struct {
	mesh     *mesh
	policies []*resource.Policy
}

// ClientsOf returns the clients of an inbound. The kind is opt.Kind.
func ClientsOf(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name, inbound string, opt Options) (*Clients, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, err
	}
	i, err := findInbound(dp, inbound)
	if err != nil {
		return nil, err
	}
	kind, err := findKind(kinds, opt.Kind)
	if err != nil {
		return nil, err
	}
	m := newMesh(set, meshName, opt)
	policies := selectingInbound(m.matching(kind, dp), i)
	if haveRules(policies) {
		policies = nil
	}
	return &Clients{m, policies}, nil
}

// C returns what [Client] does.
func (c *Clients) C(tags map[string]string) map[string]any {
	answer := map[string]any{}
	c.mesh.addConf(answer, clientItems(c.policies, resource.NewTags(tags)))
	return answer
}

// Items returns the KRI and index of every item that selects the client, in
// order, overridden or not.
func (c *Clients) Items(tags map[string]string) []map[string]any {
	var places []map[string]any
	for _, item := range clientItems(c.policies, resource.NewTags(tags)) {
		places = append(places, item.origin())
	}
	return places
}

// Asked returns for each tag key that any item asks for the values that it
// asks for, * left out: what can tell clients apart (SPEC 5.3).
func (c *Clients) Asked() map[string][]string {
	asked := map[string][]string{}
	for _, p := range c.policies {
		for i := range p.From {
			ref := &p.From[i].TargetRef
			tags := ref.Tags
			if ref.Kind == resource.TargetMeshService || ref.Kind == resource.TargetMeshServiceSubset {
				tags = append(resource.Tags{{Key: serviceTag, Value: ref.Name}}, tags...)
			}
			for _, tag := range tags {
				values := asked[tag.Key] // the key counts, whatever the value
				if tag.Value != "*" {
					values = append(values, tag.Value)
				}
				asked[tag.Key] = values
			}
		}
	}
	for key, values := range asked {
		asked[key] = distinct(values)
	}
	return asked
}

// clientItems lists the items of `from` that select a client.
func clientItems(policies []*resource.Policy, tags resource.Tags) []item {
	var items []item
	for _, p := range policies {
		for i := range p.From {
			if selectsTags(&p.From[i].TargetRef, tags) {
				items = append(items, item{p, i, p.From[i].Conf})
			}
		}
	}
	return items
}

// haveRules: where any policy has rules, `from` does not count (SPEC 5.6).
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
