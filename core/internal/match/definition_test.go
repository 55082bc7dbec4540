package match_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// definition evaluates SPEC 2.2 and 3 for every policy.
func definition(policies []*resource.Policy, d *resource.Dataplane, scope results.Scope) []results.Selected {
	var out []results.Selected
	for _, p := range policies {
		if scope == results.Enforced && p.Shadow() {
			continue
		}
		s, any := results.Selected{Policy: p}, false
		for point := range max(1, len(d.Inbounds)) {
			if !selectsPoint(p, d, point) && !slices.ContainsFunc(policies, func(route *resource.Policy) bool {
				return isAttached(p, route) && !(scope == results.Enforced && route.Shadow()) && selectsPoint(route, d, point)
			}) {
				continue
			}
			any = true
			if len(d.Inbounds) > 0 {
				s.Inbounds.Add(point)
			}
		}
		if any {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b results.Selected) int {
		p, q := a.Policy, b.Policy
		return cmp.Or(strings.Compare(p.Kind, q.Kind), levelOf(p)-levelOf(q), strings.Compare(p.Name, q.Name), strings.Compare(p.Namespace, q.Namespace))
	})
	return out
}

// selectsPoint reports whether p selects a point: an inbound, a gateway, or a dataplane
// with neither.
func selectsPoint(p *resource.Policy, d *resource.Dataplane, point int) bool {
	ref := &p.TargetRef
	var tags resource.Tags
	section := ""
	switch {
	case len(d.Inbounds) > 0:
		tags, section = d.Inbounds[point].Tags, d.Inbounds[point].SectionName()
	case d.Gateway != nil:
		tags = d.Gateway.Tags
	}
	service := tags.Value(resource.ServiceTag) == ref.Name
	space := ref.Namespace == "" || ref.Namespace == d.Namespace
	switch ref.Kind {
	case resource.TargetMesh:
		return ref.ProxyTypes.Admits(d.ProxyType())
	case resource.TargetMeshSubset:
		return ref.ProxyTypes.Admits(d.ProxyType()) && tags.Contains(ref.Tags)
	case resource.TargetDataplane:
		return (ref.Name == "" || ref.Name == d.Name) && space && d.Labels.Contains(ref.Labels) &&
			(ref.SectionName == "" || ref.SectionName == section)
	case resource.TargetMeshService, resource.TargetMeshServiceSubset:
		return service && tags.Contains(ref.Tags)
	case resource.TargetMeshGateway:
		return d.Gateway != nil && d.Gateway.Builtin && space && service && tags.Contains(ref.Tags)
	}
	return false
}

func isAttached(p, route *resource.Policy) bool {
	ref := &p.TargetRef
	return (ref.Kind == resource.TargetMeshHTTPRoute || ref.Kind == resource.TargetMeshTCPRoute) &&
		ref.Kind.String() == route.Kind && ref.Name == route.Name &&
		(ref.Namespace == "" || ref.Namespace == route.Namespace)
}

func levelOf(p *resource.Policy) int {
	ref := &p.TargetRef
	name := ref.Kind.String()
	switch {
	case ref.SectionName != "":
		name = "sectionName"
	case strings.HasSuffix(name, "Route"):
		name = "route"
	}
	return slices.Index([]string{"Mesh", "Dataplane", "sectionName", "MeshSubset", "MeshGateway", "MeshService", "MeshServiceSubset", "route"}, name)
}

func sameSelection(a, b []results.Selected) bool {
	return slices.EqualFunc(a, b, func(s, o results.Selected) bool {
		for i := range 80 {
			if s.Inbounds.Has(i) != o.Inbounds.Has(i) {
				return false
			}
		}
		return s.Policy == o.Policy
	})
}

// checkSelection compares a selection with the definition.
func checkSelection(t *testing.T, who string, policies []*resource.Policy, d *resource.Dataplane, scope results.Scope, got []results.Selected) {
	t.Helper()
	if want := definition(policies, d, scope); !sameSelection(want, got) {
		t.Fatalf("%s (%s, scope %d): got %q, want %q", who, d.Name, scope, names(got, d), names(want, d))
	}
}
