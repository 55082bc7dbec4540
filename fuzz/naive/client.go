package naive

import "github.com/meshmatch/meshmatch/core/resource"

// Client returns the C of SPEC 10 for a client with the given tags: the merge,
// in order, of every item of `from` that selects it (SPEC 5.1). It is empty
// where no item does, and where rules count instead (SPEC 5.6).
func Client(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name, inbound string, tags map[string]string, opt Options) (map[string]any, error) {
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
	answer := map[string]any{}
	if !haveRules(policies) {
		m.addConf(answer, clientItems(policies, resource.NewTags(tags)))
	}
	return answer, nil
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
