package naive

import "github.com/meshmatch/meshmatch/core/resource"

// PassthroughConf returns the conf, by the kind of the options, of the connections of a dataplane
// to addresses that are no outbounds (SPEC 11.5, MeshAccessLog): that of the `to` items for the
// whole mesh, nil if there are none. The error is about a dataplane or kind that is not there.
func PassthroughConf(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (any, error) {
	m, policies, _, err := matchingOf(kinds, set, meshName, namespace, name, opt)
	if err != nil {
		return nil, err
	}
	var items []item
	for _, p := range policies {
		for i, it := range p.To {
			if it.TargetRef.Kind == resource.TargetMesh && !targetsRoute(p.Policy) {
				items = append(items, item{p.Policy, i, it.Conf})
			}
		}
	}
	m.sortItems(items, policies, m.kumaLike())
	answer := map[string]any{}
	m.addConf(answer, items)
	return answer["conf"], nil
}
