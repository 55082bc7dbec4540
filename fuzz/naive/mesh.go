package naive

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Options chooses what an answer covers.
type Options struct {
	Kind    string // this policy kind only; empty: all
	Shadow  bool   // policies that only inform take a full part (SPEC 8.3)
	Explain bool   // with the origin of every leaf
}

// mesh is what the reference looks at: the policies of one mesh that take
// part, and how to answer.
type mesh struct {
	policies []*resource.Policy
	explain  bool
}

func newMesh(set *resource.Set, name string, opt Options) *mesh {
	m := &mesh{explain: opt.Explain}
	for _, p := range set.Policies {
		if p.Mesh == name && (opt.Shadow || !informs(p)) {
			m.policies = append(m.policies, p)
		}
	}
	return m
}

// informs: a policy with this label has no part in an effective conf
// (SPEC 8.3).
func informs(p *resource.Policy) bool {
	effect, _ := lookup(p.Labels, "kuma.io/effect")
	return effect == "shadow"
}

// findDataplane returns the dataplane of exactly that namespace and name, or
// with an empty namespace the only one of the name (SPEC 10).
func findDataplane(set *resource.Set, mesh, namespace, name string) (*resource.Dataplane, error) {
	var found []*resource.Dataplane
	for _, dp := range set.Dataplanes {
		switch {
		case dp.Mesh != mesh || dp.Name != name:
		case dp.Namespace == namespace:
			return dp, nil
		case namespace == "":
			found = append(found, dp)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("mesh %q has no dataplane %q in namespace %q", mesh, name, namespace)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("mesh %q has %d dataplanes %q; give a namespace", mesh, len(found), name)
}

// findInbound returns the number of the inbound of a name.
func findInbound(dp *resource.Dataplane, name string) (int, error) {
	for i := range dp.Inbounds {
		if inboundName(&dp.Inbounds[i]) == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("dataplane %q has no inbound %q", dp.Name, name)
}

// findKind returns the kind of a name.
func findKind(kinds *resource.Kinds, name string) (*resource.Kind, error) {
	for _, kind := range kinds.All() {
		if kind.Name == name {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("there is no policy kind %q", name)
}
