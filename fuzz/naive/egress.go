package naive

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// EgressConfs returns the confs of `to` that clusters of external services have at the egresses of a
// dataplane (SPEC 17.4). They are by the identity and section of the service, and by kind. A cluster without
// a conf of a kind has no entry for it. The error is about a dataplane that the input lacks.
func EgressConfs(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (map[string]map[string]any, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, err
	}
	m, confs := newMesh(set, meshName, opt), map[string]map[string]any{}
	if !m.kumaLike() || !slices.ContainsFunc(dp.Listeners, func(l resource.Listener) bool { return l.Egress }) {
		return confs, nil
	}
	dp = m.proxy(dp)
	for _, d := range m.destinations {
		if d.Identity().Kind != "MeshExternalService" || !m.leadsTo(dp, d) {
			continue
		}
		for _, port := range d.Ports() {
			section := portSection(port)
			byKind := map[string]any{}
			for _, kind := range kinds.All() {
				if !m.shapesEgress(kind) {
					continue
				}
				answer := map[string]any{}
				m.addConf(answer, m.toItems(m.matching(kind, dp), &traffic{target: &target{destination: d, section: section}}))
				if conf, has := answer["conf"]; has {
					byKind[kind.Name] = conf
				}
			}
			confs[fmt.Sprint(d.Identity().ID, " ", section)] = byKind
		}
	}
	return confs, nil
}

// leadsTo reports whether an egress leads to an external service: one without a zone, or one of
// the zone of the egress.
func (m *mesh) leadsTo(dp *resource.Dataplane, d resource.Destination) bool {
	own, of := zoneOf(dp), madeInZone(d.Identity())
	return own == "" || of == "" || own == of
}

// shapesEgress reports whether the items of a kind shape the cluster of an external service at
// an egress.
func (m *mesh) shapesEgress(kind *resource.Kind) bool {
	switch kind.Name {
	case "MeshCircuitBreaker", "MeshHealthCheck", "MeshTimeout":
		return true
	case "MeshLoadBalancingStrategy":
		return m.kuma3()
	}
	return false
}
