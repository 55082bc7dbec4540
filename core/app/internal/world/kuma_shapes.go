package world

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/resource"
)

// kumaShapes returns variations of the shape transparent.
func kumaShapes() []Shape {
	shapes := []Shape{
		{
			Name:       "reachable",
			About:      "the world of transparent, where each dataplane reaches the services in its reachableBackends only",
			dataplanes: each(reachableDataplane),
			policies:   rolePolicies,
			objects:    destinations,
			listed:     true,
		},
		{
			Name:       "universal",
			About:      "the services of transparent without namespaces and transparent proxies: each dataplane lists a backendRef for each outbound, and each policy is the operators'",
			dataplanes: each(universalDataplane),
			policies:   universalPolicies,
			objects:    universalDestinations,
			listed:     true,
		},
		{
			Name:       "routed",
			About:      "the world of transparent, where each tenth service has a MeshHTTPRoute of its producer, and a path of it goes to two services",
			dataplanes: each(transparentDataplane),
			policies:   rolePolicies,
			objects:    destinations,
			routes:     httpRoutes,
		},
		{
			Name:       "multi-zone",
			About:      "the world of transparent in four zones with addresses, and a MeshMultiZoneService for one service of each zone",
			dataplanes: each(zonedDataplane),
			policies:   rolePolicies,
			objects:    multiZoneDestinations,
		},
	}
	for i := range shapes {
		shapes[i].semantics = semantics.Kuma
	}
	return shapes
}

// services returns the number of MeshServices in a world.
func services(o *Options) int { return max(1, o.Dataplanes/dataplanesPerService) }

// neighbour returns the number of the service of outbound i of a dataplane. Dataplanes of one
// service have the same ones.
func neighbour(j, i int, o *Options) int { return (j/dataplanesPerService + 7*i) % services(o) }

func reachableDataplane(j int, o *Options) *resource.Dataplane {
	d := transparentDataplane(j, o)
	d.TransparentProxy.ReachableBackends = []resource.BackendRef{}
	for i := range o.Outbounds {
		d.TransparentProxy.ReachableBackends = append(d.TransparentProxy.ReachableBackends, resource.BackendRef{
			Kind: resource.TargetMeshService, Labels: serviceLabels(neighbour(j, i, o)),
		})
	}
	return d
}

// serviceLabels are labels that one MeshService has.
func serviceLabels(i int) resource.Tags {
	return resource.NewTags(map[string]string{resource.DisplayNameLabel: shape.Service(i), resource.NamespaceLabel: namespace(i)})
}

func universalDataplane(j int, o *Options) *resource.Dataplane {
	d := transparentDataplane(j, o)
	d.TransparentProxy, d.Namespace = nil, ""
	d.Labels = withoutNamespace(d.Labels)
	for i := range o.Outbounds {
		d.Outbounds = append(d.Outbounds, resource.Outbound{Address: "127.0.0.1", Port: uint32(10_000 + i), Backend: &resource.BackendRef{
			Kind: resource.TargetMeshService, Port: 80, Labels: resource.Tags{{Key: resource.DisplayNameLabel, Value: shape.Service(neighbour(j, i, o))}},
		}})
	}
	return d
}

func withoutNamespace(labels resource.Tags) resource.Tags {
	return slices.DeleteFunc(slices.Clone(labels), func(t resource.Tag) bool { return t.Key == resource.NamespaceLabel })
}

func universalPolicies(kind *resource.Kind, n int) []*resource.Policy {
	policies := rolePolicies(kind, n)
	for _, p := range policies {
		p.Namespace, p.Labels = "", nil
		if target := &p.To[0].TargetRef; target.Labels != nil {
			target.Labels = withoutNamespace(target.Labels)
		}
	}
	return policies
}

func universalDestinations(o *Options) []resource.Object {
	objects := destinations(o)
	for _, object := range objects {
		m := object.Identity()
		m.Namespace, m.Labels = "", withoutNamespace(m.Labels)
	}
	return objects
}

// httpRoutes returns the routes of producers: the requests to one path of a service go to
// the service and to the next one.
func httpRoutes(kinds *resource.Kinds, o *Options) []*resource.Policy {
	kind := kinds.Lookup(resource.TargetMeshHTTPRoute.String())
	var routes []*resource.Policy
	for i := 0; i < services(o); i += 10 {
		route := &resource.Policy{
			Meta: resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: fmt.Sprintf("route-%d", i)}},
			Type: kind, TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
			To: []resource.Item{{
				TargetRef: resource.TargetRef{Kind: resource.TargetMeshService, Labels: serviceLabels(i)},
				Conf: &meshhttproute.Conf{Rules: []meshhttproute.Rule{{
					Matches: []meshhttproute.Match{{Path: &meshhttproute.PathMatch{Type: meshhttproute.PathPrefix, Value: "/api"}}},
					Default: meshhttproute.RuleConf{BackendRefs: []conf.BackendRef{backend(i), backend((i + 1) % services(o))}},
				}}},
			}},
		}
		inNamespace(&route.Meta, namespace(i), resource.Tag{Key: resource.PolicyRoleLabel, Value: "producer"})
		routes = append(routes, route)
	}
	return routes
}

func backend(i int) conf.BackendRef {
	labels := map[string]string{}
	for _, label := range serviceLabels(i) {
		labels[label.Key] = label.Value
	}
	port := conf.Port(80)
	return conf.BackendRef{Kind: conf.BackendMeshService, Labels: labels, Port: &port}
}

const zones = 4

// groupLabel is on the MeshServices that a MeshMultiZoneService selects.
const groupLabel = "group"

func zone(service int) resource.Tag {
	return resource.Tag{Key: resource.ZoneTag, Value: fmt.Sprintf("zone-%d", service%zones)}
}

func zonedDataplane(j int, o *Options) *resource.Dataplane {
	d := transparentDataplane(j, o)
	inNamespace(&d.Meta, d.Namespace, zone(j/dataplanesPerService))
	return d
}

// multiZoneDestinations returns the destinations of transparent, each service in a zone, a
// MeshMultiZoneService for each group of services, and the addresses of the zones.
func multiZoneDestinations(o *Options) []resource.Object {
	objects := destinations(o)
	for i := range services(o) {
		s := objects[i].(*resource.MeshService)
		s.Spec.State = specs.Available
		inNamespace(&s.Meta, s.Namespace, zone(i), resource.Tag{Key: groupLabel, Value: fmt.Sprint(i / zones)})
	}
	for i := range (services(o) + zones - 1) / zones {
		s := &resource.MeshMultiZoneService{}
		s.ID = resource.ID{Kind: resource.MeshMultiZoneServiceKind, Mesh: shape.Mesh, Name: fmt.Sprintf("group-%d", i)}
		s.Spec.Selector.MeshService.MatchLabels = resource.Tags{{Key: groupLabel, Value: fmt.Sprint(i)}}
		s.Spec.Ports = []specs.ServicePort{{Port: 80, AppProtocol: "http"}}
		s.DestinationStatus.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{243, byte(i >> 16), byte(i >> 8), byte(i)})}
		objects = append(objects, s)
	}
	for i := range zones {
		a := &resource.ObjectOf[specs.MeshZoneAddress]{}
		a.ID = resource.ID{Kind: resource.MeshZoneAddressKind, Mesh: shape.Mesh, Name: fmt.Sprintf("zone-%d", i)}
		a.Labels = resource.Tags{zone(i)}
		a.Spec.Address, a.Spec.Port = fmt.Sprintf("10.99.0.%d", i+1), 10001
		objects = append(objects, a)
	}
	return objects
}
