package naive

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Options selects the parts of an answer.
type Options struct {
	// Semantics is targetref, kuma or kuma3 (SPEC 17.1); empty: targetref.
	Semantics string
	Kind      string // this policy kind only; empty: all
	Shadow    bool   // with policies that only inform (SPEC 8.3)
	Explain   bool   // adds the origin of every leaf
	Hub       *Hub   // where policies are enforced; nil: no placements
	// Merge is for types that merge in another way; nil: [Merge].
	Merge func(confs ...any) (conf any, origins []int, leaves map[string]int)
}

// mesh is the input of an answer: the policies of one mesh, the placements and
// bindings, and the options.
type mesh struct {
	document      *resource.Mesh // nil: none
	policies      []*resource.Policy
	identities    []*resource.MeshIdentity
	destinations  []resource.Destination               // sorted by identity
	collectors    []*resource.MeshOpenTelemetryBackend // sorted by identity
	gateways      []*resource.MeshGateway              // sorted by identity, like the next two
	gatewayRoutes []*resource.MeshGatewayRoute
	virtual       []*resource.VirtualAddresses
	hub           *Hub
	semantics     string
	shadow        bool
	explain       bool
	merge         func(confs ...any) (any, []int, map[string]int)
}

func newMesh(set *resource.Set, name string, opt Options) *mesh {
	m := &mesh{hub: opt.Hub, semantics: opt.Semantics, shadow: opt.Shadow, explain: opt.Explain}
	if m.merge = opt.Merge; m.merge == nil {
		m.merge = Merge
	}
	if m.hub == nil {
		m.hub = &Hub{}
	}
	for _, p := range set.Policies {
		if p.Mesh == name {
			m.policies = append(m.policies, p)
		}
	}
	for _, document := range set.Meshes {
		if document.Name == name {
			m.document = document
		}
	}
	for _, i := range resource.ObjectsOf[*resource.MeshIdentity](set.Objects) {
		if i.Mesh == name {
			m.identities = append(m.identities, i)
		}
	}
	for _, o := range set.Objects { // sorted by identity
		if d, is := o.(resource.Destination); is && d.Identity().Mesh == name && !(m.kuma3() && hasCertificatesOfKuma2(d)) {
			m.destinations = append(m.destinations, d)
		}
		switch o := o.(type) {
		case *resource.MeshGateway:
			if o.Mesh == name {
				m.gateways = append(m.gateways, o)
			}
		case *resource.MeshGatewayRoute:
			if o.Mesh == name {
				m.gatewayRoutes = append(m.gatewayRoutes, o)
			}
		case *resource.MeshOpenTelemetryBackend:
			if o.Mesh == name {
				m.collectors = append(m.collectors, o)
			}
		case *resource.VirtualAddresses:
			if o.Mesh == name {
				m.virtual = append(m.virtual, o)
			}
		}
	}
	return m
}

// takesPart reports whether a policy contributes to the answer for a dataplane that it
// selects: the policy is enforced there, or the answer is the shadow view (SPEC 8.3).
func (m *mesh) takesPart(p *resource.Policy, dp *resource.Dataplane) bool {
	return m.shadow || m.hub.enforced(p, dp)
}

// informs reports whether a policy has the shadow label (SPEC 8.3).
func informs(p *resource.Policy) bool {
	effect, _ := lookup(p.Labels, "kuma.io/effect")
	return effect == "shadow"
}

// findDataplane returns the dataplane with the namespace and name or, if the namespace
// is empty, the only one with the name (SPEC 10).
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

// findInbound returns the index of the inbound with the name.
func findInbound(dp *resource.Dataplane, name string) (int, error) {
	for i := range dp.Inbounds {
		if inboundName(&dp.Inbounds[i]) == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("dataplane %q has no inbound %q", dp.Name, name)
}

// findKind returns the kind with the name.
func findKind(kinds *resource.Kinds, name string) (*resource.Kind, error) {
	for _, kind := range kinds.All() {
		if kind.Name == name {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("there is no policy kind %q", name)
}
