package world

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

const (
	namespaces           = 50
	dataplanesPerService = 20
	externalServices     = 200
)

func namespace(i int) string { return fmt.Sprintf("ns-%d", i%namespaces) }

// inNamespace gives a resource a namespace, like a resource from Kubernetes.
func inNamespace(m *resource.Meta, name string, labels ...resource.Tag) {
	m.Namespace = name
	all := map[string]string{resource.NamespaceLabel: name}
	for _, label := range append(labels, m.Labels...) {
		all[label.Key] = label.Value
	}
	m.Labels = resource.NewTags(all)
}

// transparentDataplane returns a dataplane of the fleet with a transparent proxy: it lists
// no outbound, and has one for each port of each destination. Dataplanes of one service
// are consecutive.
func transparentDataplane(j int, o *Options) *resource.Dataplane {
	d := fleetDataplane(j, o)
	main := &d.Inbounds[0]
	main.Tags = slices.Clone(main.Tags)
	for i := range main.Tags {
		if main.Tags[i].Key == resource.ServiceTag {
			main.Tags[i].Value = shape.Service(j / dataplanesPerService)
		}
	}
	d.Outbounds = nil
	d.TransparentProxy = &resource.TransparentProxy{RedirectPortInbound: 15006, RedirectPortOutbound: 15001}
	inNamespace(&d.Meta, namespace(j/dataplanesPerService))
	return d
}

// rolePolicies returns policies of operators, for teams and for all, and of the owners of
// workloads, producers and consumers of the namespaces.
func rolePolicies(kind *resource.Kind, n int) []*resource.Policy {
	policies := shape.Fleet(kind, n)
	for i, p := range policies {
		p.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
		switch {
		case i%250 == 0: // the first one, too, so that every outbound has a conf
			p.To[0].TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
			continue
		case i < teams:
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: "team", Value: shape.Team(i)}}}
			p.To[0].TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
			continue
		}
		service := i / 4
		p.To[0].TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Labels: resource.NewTags(map[string]string{
			resource.DisplayNameLabel: shape.Service(service), resource.NamespaceLabel: namespace(service),
		})}
		role := []string{"producer", "consumer", "consumer", "workload-owner"}[i%4]
		inNamespace(&p.Meta, namespace(service), resource.Tag{Key: resource.PolicyRoleLabel, Value: role})
	}
	return policies
}

// destinations returns the services of the dataplanes, and external services.
func destinations(o *Options) []resource.Object {
	var objects []resource.Object
	for i := range max(1, o.Dataplanes/dataplanesPerService) {
		objects = append(objects, meshService(i))
	}
	for i := range externalServices {
		e := &resource.MeshExternalService{}
		e.ID = resource.ID{Kind: resource.MeshExternalServiceKind, Mesh: shape.Mesh, Name: fmt.Sprintf("external-%d", i)}
		e.Spec.Match.Port = 443
		e.DestinationStatus.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{242, 0, byte(i >> 8), byte(i)})}
		objects = append(objects, e)
	}
	return objects
}

func meshService(i int) *resource.MeshService {
	s := &resource.MeshService{}
	s.ID = resource.ID{Kind: resource.MeshServiceKind, Mesh: shape.Mesh, Name: shape.Service(i)}
	s.Spec.Selector.DataplaneTags = resource.Tags{{Key: resource.ServiceTag, Value: shape.Service(i)}}
	s.Spec.Ports = []specs.ServicePort{{Port: 80, Name: "http", AppProtocol: "http"}, {Port: 81}}
	s.DestinationStatus.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{241, byte(i >> 16), byte(i >> 8), byte(i)})}
	inNamespace(&s.Meta, namespace(i))
	return s
}
