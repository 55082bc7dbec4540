package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomTarget returns a targetRef over a small alphabet: most targetRefs select
// something, and many select the same dataplanes.
func randomTarget(r *rand.Rand) resource.TargetRef {
	selector := oneOf(r, tags("version=v1"), tags("version=v2"), tags("version=*"), tags("team=store", "version=v1"), tags("team=*"))
	name := oneOf(r, "web", "admin", "edge", "missing")
	namespace := oneOf(r, "", "", "shop", "x")
	switch r.IntN(9) {
	case 0:
		return resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.ProxyTypes(r.IntN(4))}
	case 1:
		return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: selector, ProxyTypes: resource.ProxyTypes(r.IntN(4))}
	case 2:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: name}
	case 3:
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: selector}
	case 4:
		return resource.TargetRef{Kind: resource.TargetDataplane, Labels: oneOf(r, nil, tags("app=web"), tags("app=web", "tier=1")), SectionName: oneOf(r, "", "http", "81")}
	case 5:
		return resource.TargetRef{Kind: resource.TargetDataplane, Name: oneOf(r, "d0", "d1", "missing"), Namespace: namespace}
	case 6:
		return resource.TargetRef{Kind: resource.TargetMeshGateway, Name: name, Tags: oneOf(r, nil, selector), Namespace: namespace}
	}
	kind := oneOf(r, resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute)
	return resource.TargetRef{Kind: kind, Name: oneOf(r, "p1", "p2"), Namespace: oneOf(r, "", "x")}
}

// randomPolicy returns a policy with one of few identities. Routes select dataplanes,
// never another route (SPEC 2.4).
func randomPolicy(r *rand.Rand) *resource.Policy {
	kind := oneOf(r, "MeshTimeout", "MeshTimeout", "MeshHTTPRoute", "MeshTCPRoute")
	p := policy(kind, fmt.Sprintf("p%d", r.IntN(5)), randomTarget(r))
	p.Namespace = oneOf(r, "", "x")
	if kind != "MeshTimeout" && p.TargetRef.Kind.IsRoute() {
		p.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
	}
	if r.IntN(4) == 0 {
		p.Labels = tags("kuma.io/effect=shadow")
	}
	return p
}

func randomTags(r *rand.Rand) resource.Tags {
	return service(oneOf(r, "web", "admin", "edge"), oneOf(r, nil, []string{"version=v1"}, []string{"version=v2"}, []string{"version=v1", "team=store"})...)
}

// randomDataplane returns a gateway, or a sidecar with up to three inbounds, or
// sometimes more than 64, which an [rules.InboundSet] cannot store in one word.
func randomDataplane(r *rand.Rand, name string) *resource.Dataplane {
	d := &resource.Dataplane{Meta: resource.Meta{
		ID:     resource.ID{Name: name, Namespace: oneOf(r, "", "shop")},
		Labels: oneOf(r, nil, tags("app=web"), tags("app=web", "tier=1")),
	}}
	if r.IntN(4) == 0 {
		d.Gateway = &resource.GatewayProxy{Builtin: r.IntN(3) > 0, Tags: randomTags(r)}
		return d
	}
	n := r.IntN(4)
	if r.IntN(20) == 0 {
		n = 70
	}
	for i := range n {
		d.Inbounds = append(d.Inbounds, resource.Inbound{Name: oneOf(r, "", "http"), Port: uint32(80 + i), Tags: randomTags(r)})
	}
	return d
}

// similar returns a dataplane that differs from another one in one place, or in none.
func similar(r *rand.Rand, d *resource.Dataplane) *resource.Dataplane {
	next := *d
	next.Inbounds = slices.Clone(d.Inbounds)
	if n := len(next.Inbounds); n > 0 && r.IntN(2) == 0 {
		in, other := &next.Inbounds[r.IntN(n)], &next.Inbounds[r.IntN(n)]
		switch r.IntN(4) {
		case 0:
			in.Tags, other.Tags = other.Tags, in.Tags
		case 1:
			in.Tags = randomTags(r)
		case 2:
			in.Port += 100
		case 3:
			next.Inbounds = next.Inbounds[:n-1]
		}
		return &next
	}
	next.Labels = oneOf(r, nil, tags("app=web"), tags("app=web", "tier=1"), tags("app=web", "none=1"), tags("aaa=1", "app=web"))
	return &next
}
