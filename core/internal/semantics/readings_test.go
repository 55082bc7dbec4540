package semantics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The documents that TestReadings asks about.
const (
	web = `{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, advertisedAddress: 1.2.3.4, inbound:
		[{port: 80, servicePort: 8080, name: http, tags: {kuma.io/service: web, "kuma.io/protocol": http}}, {port: 49151, tags: {kuma.io/service: web}}]}}`
	service  = `{type: MeshService, name: api, labels: {kuma.io/zone: east, kuma.io/origin: global}, spec: {state: Unavailable, ports: [{port: 80, name: http}, {port: 81, name: admin}]}}`
	all2     = `{type: MeshMultiZoneService, name: api, spec: {selector: {meshService: {matchLabels: {kuma.io/zone: east}}}, ports: [{port: 81, name: http}]}}`
	external = `{type: MeshExternalService, name: out, labels: {kuma.io/zone: east}, spec: {match: {port: 443, protocol: tcp}, tls: {enabled: true, verification: {caCert: {inlineString: x}}}}}`
	route    = `{type: MeshHTTPRoute, name: r, labels: {k8s.kuma.io/namespace: shop}, spec: {to: [{targetRef: {kind: MeshService, name: api}, rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {}}]}]}}`
	ofRoute  = `{type: MeshTimeout, name: p, labels: {k8s.kuma.io/namespace: shop}, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {idleTimeout: 1s}}]}}`
	exported = `{type: Mesh, name: default, routing: {defaultForbidMeshExternalServiceAccess: true}, meshServices: {mode: Exclusive}}`
)

// Each question has an answer by each of the three semantics.
func TestReadings(t *testing.T) {
	set := loaded(t, strings.Join([]string{web, service, all2, external, route, ofRoute, exported}, "\n---\n"))
	d, mesh := set.Dataplanes[0], set.Meshes[0]
	api, joined, out := find[*resource.MeshService](t, set), find[*resource.MeshMultiZoneService](t, set), find[*resource.MeshExternalService](t, set)
	http, timeout := set.Policies[0], set.Policies[1]
	if http.Kind != "MeshHTTPRoute" {
		http, timeout = timeout, http
	}
	names := func(list []string) string { return strings.Join(list, " ") }
	for _, c := range []struct {
		rule              string
		of                func(semantics.Semantics) any
		targetRef, k2, k3 any
	}{
		{"17.4: Kuma's names of an inbound's listener", func(s semantics.Semantics) any {
			listener, _ := s.InboundNames("10.0.0.1", &d.Inbounds[0])
			return names(listener)
		}, "", "inbound:10.0.0.1:80 self_inbound_dp_http", "self_inbound_dp_http"},
		{"17.4: Kuma's names of an inbound's cluster", func(s semantics.Semantics) any {
			_, cluster := s.InboundNames("10.0.0.1", &d.Inbounds[0])
			return names(cluster)
		}, "", "localhost:8080 self_inbound_dp_http", "self_inbound_dp_http"},
		{"17.4: Kuma's names of an outbound", func(s semantics.Semantics) any { return names(s.OutboundNames("127.0.0.1", 80, []string{"api"})) },
			"", "outbound:127.0.0.1:80 api", "api"},
		{"17.4: Kuma's names of a passthrough", func(s semantics.Semantics) any { return len(s.PassthroughNames("inbound")) }, 0, 4, 2},
		{"17.4: Kuma's name of a service", func(s semantics.Semantics) any { return names(s.ServiceNames(d.Inbounds[0].Tags)) }, "", "web", ""},
		{"17.4: Kuma's names of a destination", func(s semantics.Semantics) any {
			return len(s.DestinationNames(api, api.Ports()[0], "msvc"))
		}, 0, 2, 1},
		{"17.4: affinity is by tags, or by labels", func(s semantics.Semantics) any { return s.ComparedTags(d, d.Inbounds[0].Tags).Value("app") }, "", "", "web"},
		{"17.2: Kuma 3 reads no advertised address, and no protocol of a tag", func(s semantics.Semantics) any {
			got := s.Proxies(mesh, set.Objects).Complete(d)
			return fmt.Sprint(got.AdvertisedAddress, " ", got.Inbounds[0].Protocol)
		}, "1.2.3.4 ", "1.2.3.4 ", " tcp"},
		{"17.2: a port of Kuma without a listener", func(s semantics.Semantics) any { return s.Listens(d, 1) }, true, false, false},
		{"17.2: rules of builtin gateways", func(s semantics.Semantics) any { return s.GatewayRules(kinds.All().Lookup("MeshTimeout")) }, false, true, false},
		{"17.3: a policy for a route, by its name", func(s semantics.Semantics) any { return s.RefersToRoute(timeout, &timeout.To[0].TargetRef, http) }, true, true, false},
		{"17.3: a policy for a route applies to no outbound of tags", func(s semantics.Semantics) any { return s.AppliesToTags(timeout) }, true, false, false},
		{"17.3: services of other meshes' mode", func(s semantics.Semantics) any { return s.ReachesAll(mesh, nil) }, true, true, true},
		{"17.3: reachableServices hides destinations", func(s semantics.Semantics) any {
			return s.ReachesAll(mesh, &resource.TransparentProxy{ReachableServices: []string{"a"}})
		}, false, false, true},
		{"17.3: a reference without a port", func(s semantics.Semantics) any { return s.ReachesEachPort() }, true, false, false},
		{"17.3: an external service of another zone", func(s semantics.Semantics) any { return s.IsOfOtherZone(out, "west") }, false, true, true},
		{"17.3: certificates in the form of Kuma 2", func(s semantics.Semantics) any { return s.Refused(out) }, "", "", "spec.tls.verification.caCert"},
		{"17.3: the namespace of a backend", func(s semantics.Semantics) any {
			ref := &resource.BackendRef{}
			ref.Labels = resource.NewTags(map[string]string{resource.DisplayNameLabel: "api"})
			return s.RouteBackend(http, ref).Labels.Value(resource.NamespaceLabel)
		}, "", "", "shop"},
		{"17.4: a service joins by its labels", func(s semantics.Semantics) any { return s.JoinsService(joined, api) }, true, true, true},
		{"17.4: the port that joins, by name or by number", func(s semantics.Semantics) any {
			return s.JoinedPort(joined.Ports()[0], api).Name
		}, "http", "admin", "http"},
		{"17.4: a service that is unavailable joins in other zones", func(s semantics.Semantics) any { return s.JoinsElsewhere(api) }, true, false, false},
		{"17.4: a service of another zone", func(s semantics.Semantics) any { return s.Zones().IsRemote(api, "west") }, false, true, true},
		{"17.4: a client without a zone knows other zones by their origin", func(s semantics.Semantics) any { return s.Zones().IsRemote(api, "") }, false, true, true},
		{"17.4: a mesh that forbids external services", func(s semantics.Semantics) any { return s.Zones().NoExternalServices(mesh) != "" }, true, true, false},
		{"17.5: a conf as it is stored", func(s semantics.Semantics) any { return s.AsStored(timeout) == timeout }, true, true, true},
	} {
		for i, want := range []any{c.targetRef, c.k2, c.k3} {
			if got := c.of(all[i]); got != want {
				t.Errorf("%s: %s: got %v, want %v", c.rule, all[i], got, want)
			}
		}
	}
}
