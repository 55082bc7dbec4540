package xds

import (
	"slices"
	"strings"
	"testing"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The filters of a chain are in the order in which they were added, a second one of a type has
// a number, and what ends the chain is last (SPEC 11.4).
func TestFilters(t *testing.T) {
	config := &anypb.Any{TypeUrl: "type.googleapis.com/a", Value: []byte("a")}
	f := &Filters{Manager: &hcmv3.HttpConnectionManager{}}
	f.AddHTTPFilter("cors", config)
	f.AddHTTPFilter("cors.v2", config) // no number
	f.AddHTTPFilter("cors", config)
	f.AddNetworkFilter("rbac", config)
	f.Decide()
	disabled := f.AddDisabled("cors")
	f.AddAccessLog(&accesslogv3.AccessLog{Name: "file"})
	if f.Decided() != (seal.Chain{Network: 1, HTTP: 3}) {
		t.Errorf("%+v decide", f.Decided())
	}
	network := f.List()
	if names := namesOf(network); !slices.Equal(names, []string{"rbac", "envoy.filters.network.http_connection_manager"}) {
		t.Errorf("the network filters are %q", names)
	}
	var manager hcmv3.HttpConnectionManager
	if err := network[1].GetTypedConfig().UnmarshalTo(&manager); err != nil {
		t.Fatal(err)
	}
	if names := namesOf(manager.HttpFilters); !slices.Equal(names, []string{"cors", "cors.v2", "cors.1", "cors.2", "envoy.filters.http.router"}) {
		t.Errorf("the HTTP filters are %q", names)
	}
	for _, filter := range manager.HttpFilters {
		if filter.Disabled != (filter.Name == disabled) {
			t.Errorf("%s is disabled: %v", filter.Name, filter.Disabled)
		}
	}
	if len(manager.AccessLog) != 1 {
		t.Errorf("%d access logs", len(manager.AccessLog))
	}
}

func TestFiltersOfTCP(t *testing.T) {
	f := &Filters{TCP: &tcpv3.TcpProxy{StatPrefix: "web"}}
	f.AddAccessLog(&accesslogv3.AccessLog{Name: "file"})
	network := f.List()
	var proxy tcpv3.TcpProxy
	if err := network[0].GetTypedConfig().UnmarshalTo(&proxy); err != nil {
		t.Fatal(err)
	}
	if len(network) != 1 || network[0].Name != "envoy.filters.network.tcp_proxy" || proxy.StatPrefix != "web" || len(proxy.AccessLog) != 1 {
		t.Errorf("the filters are %v", network)
	}
}

func namesOf[F interface{ GetName() string }](filters []F) (names []string) {
	for _, f := range filters {
		names = append(names, f.GetName())
	}
	return names
}

// What matches cannot see has a reason (SPEC 7.5).
func TestUnseen(t *testing.T) {
	spiffeID := func(value string) *conf.SpiffeIDMatch { return &conf.SpiffeIDMatch{Type: "Exact", Value: value} }
	all := Visibility{Requests: true, Certificate: true, ServerName: true, Tags: true}
	without := func(change func(*Visibility)) Visibility { v := all; change(&v); return v }
	for name, c := range map[string]struct {
		of     Visibility
		match  conf.Match
		reason string // a part of it; "": seen
	}{
		"everything":          {all, conf.Match{Method: new(conf.Method("GET")), SpiffeID: spiffeID("spiffe://a/x")}, ""},
		"a method on TCP":     {without(func(v *Visibility) { v.Requests = false }), conf.Match{Method: new(conf.Method("GET"))}, "HTTP conditions"},
		"an ID in plain text": {without(func(v *Visibility) { v.Certificate = false }), conf.Match{SpiffeID: spiffeID("spiffe://a/x")}, "no MeshIdentity"},
		"a server name":       {without(func(v *Visibility) { v.ServerName = false }), conf.Match{SNI: new(conf.SNI("a"))}, "server name"},
		"another domain":      {without(func(v *Visibility) { v.TrustDomain = "b" }), conf.Match{SpiffeID: spiffeID("spiffe://a/x")}, "trust domain"},
		"the domain":          {without(func(v *Visibility) { v.TrustDomain = "a" }), conf.Match{SpiffeID: spiffeID("spiffe://a/x")}, ""},
		"a header of gRPC": {
			without(func(v *Visibility) { v.GRPC = true }), conf.Match{Headers: []conf.HeaderMatch{{Name: "GRPC-timeout"}}}, "gRPC reserves",
		},
		"a header of gRPC to Envoy": {all, conf.Match{Headers: []conf.HeaderMatch{{Name: "grpc-timeout"}}}, ""},
	} {
		if got := c.of.Unseen(&c.match); (got == "") != (c.reason == "") || !strings.Contains(got, c.reason) {
			t.Errorf("%s: the reason is %q, want %q", name, got, c.reason)
		}
	}
}

// Tags of clients are in certificates of the mesh's own CA alone (SPEC 7.6).
func TestUnseenTags(t *testing.T) {
	tags := resource.NewTags(map[string]string{"version": "v1"})
	for _, c := range []struct {
		of     Visibility
		tags   resource.Tags
		reason string
	}{
		{Visibility{Certificate: true, Tags: true}, tags, ""},
		{Visibility{}, nil, ""},
		{Visibility{}, tags, noTagsPlain},
		{Visibility{Certificate: true}, tags, noTags},
	} {
		if got := c.of.UnseenTags(c.tags); got != c.reason {
			t.Errorf("%+v: the reason is %q, want %q", c.of, got, c.reason)
		}
	}
}

// Routes of an Envoy that does not keep the handshake compare headers that replace what a client
// sends; others compare the filter state, which no request reaches (SPEC 18.3).
func TestClientOfRoutes(t *testing.T) {
	for _, c := range []struct {
		name    string
		inbound Inbound
		headers bool
	}{
		{"newest", Inbound{Protocol: message.HTTP, TLS: &tlsv3.DownstreamTlsContext{}}, false},
		{"old", Inbound{Protocol: message.HTTP, TLS: &tlsv3.DownstreamTlsContext{}, Lacks: capability.HandshakeState}, true},
		{"old, without TLS", Inbound{Protocol: message.HTTP, Lacks: capability.HandshakeState}, false},
		{"old, TCP", Inbound{Protocol: message.TCP, TLS: &tlsv3.DownstreamTlsContext{}, Lacks: capability.HandshakeState}, false},
		{"gRPC", Inbound{Client: ProxylessGRPC, Protocol: message.HTTP, TLS: &tlsv3.DownstreamTlsContext{}, Lacks: capability.HandshakeState}, false},
	} {
		var m routev3.RouteMatch
		c.inbound.PeerMatch(&m, "spiffe://.*")
		c.inbound.ServerNameMatch(&m, "API.example")
		want := []string{rbac.PeerHeader, rbac.ServerNameHeader}
		if !c.headers {
			want = nil
		}
		if names := namesOf(m.Headers); !slices.Equal(names, want) || len(m.FilterState) != 2-len(want) {
			t.Errorf("%s: the routes compare the headers %q and %d states", c.name, names, len(m.FilterState))
		}
		if hidden := c.inbound.HiddenHeaders(); !slices.Equal(hidden, want) {
			t.Errorf("%s: the workload does not get %q", c.name, hidden)
		}
		if c.headers && m.Headers[1].GetStringMatch().GetExact() != "api.example" {
			t.Errorf("%s: the server name is %q", c.name, m.Headers[1].GetStringMatch().GetExact())
		}
		chain := Chain{Inbound: &c.inbound, Filters: &Filters{Manager: &hcmv3.HttpConnectionManager{}}}
		chain.RecordConnection()
		early, recorded := len(chain.Manager.EarlyHeaderMutationExtensions), len(chain.List())-1
		if want := c.inbound.TLS != nil && !c.headers; early == 1 != c.headers || recorded == 1 != want {
			t.Errorf("%s: %d early mutations, %d filters that record the connection", c.name, early, recorded)
		}
	}
}

// The filter that shows the client is there once, does nothing until it is enabled, and then its
// headers are hidden from the workload.
func TestClientHeaders(t *testing.T) {
	chain := Chain{
		Inbound: &Inbound{Protocol: message.HTTP, TLS: &tlsv3.DownstreamTlsContext{}},
		Filters: &Filters{Manager: &hcmv3.HttpConnectionManager{}},
	}
	chain.AddClientHeaders()
	chain.AddClientHeaders()
	if len(chain.http) != 1 || !chain.http[0].Disabled {
		t.Fatalf("the filters are %v", chain.http)
	}
	if chain.HiddenHeaders() != nil {
		t.Error("headers are hidden that nothing writes")
	}
	chain.ShowClient()
	if chain.Enabled[chain.http[0].Name] == nil || len(chain.HiddenHeaders()) != 2 {
		t.Errorf("enabled: %v, hidden: %q", chain.Enabled, chain.HiddenHeaders())
	}
	plain := Chain{Inbound: &Inbound{Protocol: message.HTTP}, Filters: &Filters{Manager: &hcmv3.HttpConnectionManager{}}}
	if plain.AddClientHeaders(); len(plain.http) != 0 {
		t.Error("a chain of an inbound without TLS shows the client")
	}
}

// Envoy gets the permissions of an inbound as a resource of its own, gRPC in the listener
// (SPEC 11.8).
func TestPermissionFilter(t *testing.T) {
	filter := rbac.Filter{Name: "envoy.filters.http.rbac", Config: &anypb.Any{TypeUrl: "type.googleapis.com/rbac"}}
	for _, client := range []ClientType{Envoy, ProxylessGRPC} {
		chain := Chain{Inbound: &Inbound{Client: client, Listener: &listenerv3.Listener{Name: "in"}}, Filters: &Filters{Manager: &hcmv3.HttpConnectionManager{}}}
		chain.AddPermissionFilter(filter)
		discovered := chain.http[0].GetConfigDiscovery() != nil
		if discovered != (client == Envoy) || len(chain.Extensions) == 1 != discovered {
			t.Errorf("client %v: the filter is %v, and %d configs are resources", client, chain.http[0], len(chain.Extensions))
		}
		if discovered && chain.Extensions[0].Name != chain.http[0].Name {
			t.Errorf("the filter %s asks for another resource than %s", chain.http[0].Name, chain.Extensions[0].Name)
		}
	}
}

// The cases of a route come before it, with their headers, and do not change it (SPEC 11.3).
func TestCasesOfRoute(t *testing.T) {
	route := &Route{Message: message.RouteTo("web", 0, 0)}
	for _, name := range []string{"a", "b"} {
		route.AddCase([]*routev3.HeaderMatcher{{Name: name}}, func(m *routev3.Route) { m.Name = "case " + name })
	}
	list := route.Messages()
	if names := namesOf(list); !slices.Equal(names, []string{"case a", "case b", ""}) {
		t.Fatalf("the routes are %q", names)
	}
	if headers := namesOf(list[1].Match.Headers); !slices.Equal(headers, []string{"b"}) || len(list[2].Match.Headers) != 0 {
		t.Errorf("the headers are %q and %v", headers, list[2].Match.Headers)
	}
	if route.Action().GetCluster() != "web" {
		t.Errorf("the route goes to %q", route.Action().GetCluster())
	}
}

// A backend is a destination once, however often routes refer to it.
func TestBackend(t *testing.T) {
	b := Backends{Mesh: "default"}
	tags := func(version string) resource.Tags {
		return resource.NewTags(map[string]string{resource.ServiceTag: "api", "version": version})
	}
	first := b.Backend(tags("v1"))
	if b.Backend(tags("v2")) == first || b.Backend(tags("v1")) != first || len(b.Referred) != 2 {
		t.Errorf("%d destinations are referred to", len(b.Referred))
	}
}

// An affinity tag is looked up in the tags, then in the labels (SPEC 17.4).
func TestAffinity(t *testing.T) {
	e := Endpoint{
		Tags:   resource.NewTags(map[string]string{"k8s.io/node": "n1"}),
		Labels: resource.NewTags(map[string]string{"k8s.io/node": "n2", "rack": "r"}),
	}
	for key, want := range map[string]string{"k8s.io/node": "n1", "rack": "r", "row": ""} {
		if got := e.Affinity(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}
