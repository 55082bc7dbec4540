package naive

import (
	"sort"

	"github.com/meshmatch/meshmatch/core/resource"
)

// outbounds returns the part of the answer about outbounds, in the order of the
// file (SPEC 4).
func (m *mesh) outbounds(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for i := range dp.Outbounds {
		out := &dp.Outbounds[i]
		if out.Backend != nil {
			continue // a reference to a destination
		}
		answer := map[string]any{"outbound": describeOutbound(out)}
		m.addConf(answer, m.toItems(policies, &traffic{tags: out.Tags}))
		if routes := m.routes(kind, policies, dp, out); len(routes) > 0 {
			answer["routes"] = routes
		}
		list = append(list, answer)
	}
	return list
}

func describeOutbound(out *resource.Outbound) map[string]any {
	answer := map[string]any{}
	if out.Address != "" {
		answer["address"] = out.Address
	}
	if out.Port != 0 {
		answer["port"] = int(out.Port)
	}
	addTags(answer, out.Tags)
	return answer
}

func addTags(answer map[string]any, tags resource.Tags) {
	if len(tags) == 0 {
		return
	}
	object := map[string]any{}
	for _, tag := range tags {
		object[tag.Key] = tag.Value
	}
	answer["tags"] = object
}

// routes returns the routes of an outbound with their confs, sorted by KRI (SPEC
// 4.3).
func (m *mesh) routes(kind *resource.Kind, policies []matched, dp *resource.Dataplane, out *resource.Outbound) []any {
	if isRouteKind(kind) {
		return nil
	}
	answers := []any{}
	for _, route := range m.policies {
		if !isRouteKind(route.Type) || !m.takesPart(route, dp) || !m.selects(route, dp).selected || !isRouteFor(route, out) {
			continue
		}
		answer := map[string]any{"route": m.policyKRI(route)}
		m.addConf(answer, m.toItems(policies, &traffic{tags: out.Tags, route: route}))
		answers = append(answers, answer)
	}
	sort.Slice(answers, func(i, j int) bool {
		return answers[i].(map[string]any)["route"].(string) < answers[j].(map[string]any)["route"].(string)
	})
	return answers
}

func isRouteKind(kind *resource.Kind) bool {
	return kind.Name == "MeshHTTPRoute" || kind.Name == "MeshTCPRoute"
}

// isRouteFor reports whether a route has a `to` item for the outbound's service.
func isRouteFor(route *resource.Policy, out *resource.Outbound) bool {
	for i := range route.To {
		if selectsTags(&route.To[i].TargetRef, out.Tags) {
			return true
		}
	}
	return false
}
