package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// proxyOf returns the document of a zone proxy with a listener of each type.
func proxyOf(zone string) string {
	return fmt.Sprintf("{type: Dataplane, name: proxy-%[1]s, labels: {kuma.io/zone: %[1]s, identified: 'yes'}, networking: {address: 10.0.3.1, listeners: [{address: 10.0.3.1, type: ZoneIngress, port: 10001, name: in}, {address: 10.0.3.1, type: ZoneEgress, port: 10002, name: out, state: NotReady}]}}", zone)
}

func snapshotOf(s *snapshot.State, name string) *snapshot.Snapshot {
	return s.Snapshot(s.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name}), xds.Envoy)
}

// resourceOf decodes a resource of a snapshot, and reports whether there is one of that name.
func resourceOf(t *testing.T, s *snapshot.Snapshot, kind wire.Type, name string, m proto.Message) bool {
	t.Helper()
	for _, r := range s.Resources(kind) {
		if r.Name == name {
			if err := proto.Unmarshal(r.Body, m); err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}

// leadsTo returns a line for each server name of the ingress of a snapshot, with the
// addresses to which it leads.
func leadsTo(t *testing.T, s *snapshot.Snapshot) (lines []string) {
	l := new(listenerv3.Listener)
	resourceOf(t, s, wire.ListenerType, "self_zoneingress_dp_in", l)
	for _, chain := range l.FilterChains {
		tcp, c, assignment := new(tcpv3.TcpProxy), new(clusterv3.Cluster), new(endpointv3.ClusterLoadAssignment)
		if err := chain.Filters[len(chain.Filters)-1].GetTypedConfig().UnmarshalTo(tcp); err != nil {
			t.Fatal(err)
		}
		if chain.TransportSocket != nil {
			t.Errorf("%s ends TLS", chain.Name)
		}
		if !resourceOf(t, s, wire.ClusterType, tcp.GetCluster(), c) || !resourceOf(t, s, wire.EndpointType, c.Name, assignment) {
			t.Errorf("the cluster %s, or its endpoints, are missing", tcp.GetCluster())
		}
		var addresses []string
		for _, group := range assignment.Endpoints {
			for _, e := range group.LbEndpoints {
				address := e.GetEndpoint().Address.GetSocketAddress()
				addresses = append(addresses, fmt.Sprintf("%s:%d", address.Address, address.GetPortValue()))
			}
		}
		slices.Sort(addresses)
		lines = append(lines, fmt.Sprintf("%s %s", chain.FilterChainMatch.ServerNames[0], addresses))
	}
	slices.Sort(lines)
	return lines
}

// ingressLines returns the same by rule 17.4: the MeshServices of the zone, and the
// MeshMultiZoneService if one of its MeshServices is among them.
func (w *zoneWorld) ingressLines(zone string) (lines []string) {
	line := func(name string, list []naiveEndpoint) {
		var addresses []string
		for _, e := range list {
			addresses = append(addresses, e.address)
		}
		slices.Sort(addresses)
		if name != "?" {
			lines = append(lines, fmt.Sprintf("%s %s", name, slices.Compact(addresses)))
		}
	}
	kuma2 := w.semantics == semantics.Kuma
	hashed := func(zone string) bool { return kuma2 && (w.mtls || zone != "" && len(w.addresses[zone]) == 0) }
	section := w.port.name
	if section == "" {
		section = fmt.Sprint(w.port.number)
	}
	joins, joined := false, []naiveEndpoint(nil)
	for i := range w.services {
		s := &w.services[i]
		if s.zone != "" && s.zone != zone {
			continue
		}
		name := fmt.Sprintf("s%d", i)
		for _, p := range s.ports {
			readable := []string{"msvc", "default", s.zone, name, p.name}
			if s.zone == "" {
				readable = slices.Delete(readable, 2, 3)
			}
			line(serverNameOf(hashed(s.zone), readable, name, p.number, "ms"), w.served(s, p.number))
		}
		if len(w.listed) > 0 && !slices.Contains(w.listed, i) || len(w.listed) == 0 && s.team != "x" {
			continue
		}
		joins = true
		number := 0
		for _, p := range s.ports {
			if p.number == w.port.number && number == 0 || !kuma2 && w.port.name != "" && p.name == w.port.name {
				number = p.number
			}
		}
		if number != 0 {
			joined = append(joined, w.served(s, number)...)
		}
	}
	if joins {
		line(serverNameOf(hashed(zone), []string{"mzsvc", "default", w.name("all"), section}, w.name("all"), w.port.number, "mzms"), joined)
	}
	slices.Sort(lines)
	return lines
}

// An ingress of a random world leads each server name to the dataplanes that rule 17.4 names.
// The ingress of a zone has each server name by which a client calls the zone, and
// an egress has the one by which clients call the external service.
func TestServerNamesOfZoneProxies(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 45))
	used := 0
	for range 300 {
		w := randomZones(random)
		w.identified = true
		documents := w.documents()
		for _, zone := range []string{"east", "west", "north"} {
			documents += "\n---\n" + proxyOf(zone)
		}
		state := follow(t, w.semantics).apply(documents)
		names := map[string]string{} // of all ingresses
		for _, zone := range []string{"east", "west", "north"} {
			proxy := snapshotOf(state, "proxy-"+zone)
			got := leadsTo(t, proxy)
			if !w.kuma() {
				if len(got) > 0 || len(proxy.Resources(wire.ClusterType)) > 0 {
					t.Fatalf("by targetref a zone proxy has %s", got)
				}
				continue
			}
			if want := w.ingressLines(zone); !slices.Equal(got, want) {
				t.Fatalf("%s, zone %s\n%s\ngot  %s\nwant %s", w.semantics, zone, documents, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
			names[zone] = strings.Join(got, "\n")
		}
		for name, list := range w.endpoints() {
			for _, e := range list {
				if e.serverName == "" || strings.HasPrefix(name, "out") {
					continue
				}
				used++
				if !strings.Contains(names[e.zone], e.serverName+" ") {
					t.Errorf("%s\nthe ingress of %s does not know %s", documents, e.zone, e.serverName)
				}
			}
		}
		for _, e := range w.endpoints()[w.name("out")+"/9000"] {
			l := new(listenerv3.Listener)
			if strings.HasPrefix(e.address, "10.0.2.") && (!resourceOf(t, snapshotOf(state, "proxy-east"), wire.ListenerType, "self_zoneegress_dp_out", l) ||
				!slices.ContainsFunc(l.FilterChains, func(c *listenerv3.FilterChain) bool { return c.FilterChainMatch.ServerNames[0] == e.serverName })) {
				t.Errorf("%s\nthe egress does not know %s", documents, e.serverName)
			}
		}
	}
	if used < 100 {
		t.Errorf("clients used %d server names", used)
	}
}

// Every kind of filter that routes enable at an inbound is enabled at an egress too, and the
// cluster of an external service has the confs of `to` for it.
func TestEgressHasPoliciesOfInbounds(t *testing.T) {
	for _, c := range []struct {
		semantics semantics.Semantics
		balancer  clusterv3.Cluster_LbPolicy
	}{{semantics.Kuma, clusterv3.Cluster_ROUND_ROBIN}, {semantics.Kuma3, clusterv3.Cluster_RANDOM}} {
		to := func(kind, conf string) string {
			return fmt.Sprintf("{type: %s, name: p, spec: {to: [{targetRef: {kind: MeshExternalService, labels: {out: 'yes'}}, default: %s}]}}", kind, conf)
		}
		documents := strings.Join([]string{
			proxyOf("east"),
			"{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {identified: 'yes'}}}, provider: {type: Spire, spire: {}}}}",
			"{type: MeshExternalService, name: out, labels: {out: 'yes'}, spec: {match: {port: 9000, protocol: http}, endpoints: [{address: 192.0.2.1, port: 443}]}, status: {vip: {ip: 242.0.0.1}}}",
			"{type: MeshRateLimit, name: p, spec: {rules: [{default: {local: {http: {requestRate: {num: 1, interval: 1s}}}}}]}}",
			"{type: MeshFaultInjection, name: p, spec: {rules: [{default: {http: [{abort: {httpStatus: 503, percentage: 1}}]}}]}}",
			to("MeshCircuitBreaker", "{connectionLimits: {maxConnections: 7}}"), to("MeshTimeout", "{connectionTimeout: 7s}"),
			to("MeshHealthCheck", "{interval: 7s, timeout: 1s, tcp: {}}"), to("MeshLoadBalancingStrategy", "{loadBalancer: {type: Random}}"),
		}, "\n---\n")
		s := snapshotOf(snapshotState(t, c.semantics, documents), "proxy-east")
		name := "self_zoneegress_dp_out/kri_extsvc_default___out_9000"
		routes, cluster := new(routev3.RouteConfiguration), new(clusterv3.Cluster)
		if !resourceOf(t, s, wire.RouteType, name, routes) || !resourceOf(t, s, wire.ClusterType, name, cluster) {
			t.Fatalf("%s: no %s", c.semantics, name)
		}
		for _, filter := range []string{"envoy.filters.http.local_ratelimit", "envoy.filters.http.fault"} {
			if routes.VirtualHosts[0].TypedPerFilterConfig[filter] == nil {
				t.Errorf("%s: the routes do not enable %s", c.semantics, filter)
			}
		}
		if got := cluster.GetCircuitBreakers().GetThresholds(); len(got) != 1 || got[0].MaxConnections.GetValue() != 7 {
			t.Errorf("%s: limits %v", c.semantics, got)
		}
		if cluster.ConnectTimeout.GetSeconds() != 7 || len(cluster.HealthChecks) != 1 || cluster.LbPolicy != c.balancer {
			t.Errorf("%s: %v, %v, %v", c.semantics, cluster.ConnectTimeout, cluster.HealthChecks, cluster.LbPolicy)
		}
	}
}
