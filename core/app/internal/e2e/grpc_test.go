package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	xdscore "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	rbac "github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
)

// A gRPC server that gets the filters in the rules form by xDS decides as access
// does. One listener serves all trials: the authority chooses the filter.
func TestGRPCDecidesAsAccess(t *testing.T) {
	trials := append(grpcTrials(t), grpcStory(t, "empty-values"))
	ca := envoytest.NewAuthority(t)
	address := startGRPC(t, ca, trials)
	allowed := 0
	for i := range trials {
		trial := &trials[i]
		for _, c := range trial.clients {
			want := trial.permissions.Decide(seenBy(http1, c)) // gRPC joins cookies by commas, too
			got, err := callGRPC(address, ca.Issue(t, c.URIs...), c)
			if err != nil {
				t.Errorf("%s: %+v: %v", trial.title, c, err)
			} else if got != want.Decision.Allow {
				t.Errorf("%s: %+v: allowed %v, access decides %s", trial.title, c, got, permissiontest.Text(want))
			}
			if got {
				allowed++
			}
		}
	}
	if allowed < len(trials) {
		t.Errorf("only %d requests of %d trials are allowed", allowed, len(trials))
	}
}

// grpcTrials are random permissions that gRPC accepts and can compare in full: without
// SNI, with POST as the only method, and with header values of ASCII without blanks at
// their ends.
func grpcTrials(t *testing.T) []trial {
	paths := []string{"/a/b", "/a/b/", "/metrics/cpu", "/metrics/a/b", "/b/ab"}
	var out []trial
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		permissions := permissiontest.Random(t, r)
		trial := trial{name: fmt.Sprintf("t%d", seed), title: fmt.Sprintf("seed %d", seed), permissions: permissions["http"]}
		if trial.permissions.Clients != nil {
			continue // the certificates of the clients would carry tags
		}
		for range 6 {
			c := permissiontest.RandomClient(r)
			c.SNI, c.Method, c.Path = "", "POST", paths[r.IntN(len(paths))]
			uris := strings.Join(c.URIs, " ")
			isRefused := strings.ContainsFunc(uris, func(r rune) bool { return r > 0x7f }) // by package x509, in the handshake
			isRead := strings.Contains(strings.ToLower(uris), "spiffe:") && !strings.Contains(uris, "spiffe:")
			if c.HasSeveralIDs() || c.HasComma(false) || isRefused || isRead { // SPEC 7.6
				c.URIs = permissiontest.SpiffeIDs[1:2]
			}
			c.Lines = slices.DeleteFunc(c.Lines, func(h request.Header) bool {
				return h.Name == "host" || strings.ContainsFunc(h.Value, func(r rune) bool { return r > 0x7f })
			})
			for i := range c.Lines {
				c.Lines[i].Value = strings.Trim(c.Lines[i].Value, " \t")
			}
			c.Lines = append(c.Lines, request.Header{Name: "host", Value: trial.name})
			trial.clients = append(trial.clients, c)
		}
		out = append(out, trial)
	}
	return out
}

// grpcStory is the requests of a story that gRPC accepts in full.
func grpcStory(t *testing.T, name string) trial {
	for _, trial := range stories(t, rules) {
		if trial.title == name+"/http/rules" {
			trial.name = name
			for i, c := range trial.clients {
				out := *c
				out.Lines = append(slices.DeleteFunc(slices.Clone(c.Lines), func(h request.Header) bool { return h.Name == "host" }), request.Header{Name: "host", Value: name})
				trial.clients[i] = &out
			}
			return trial
		}
	}
	t.Fatalf("there is no story %s", name)
	return trial{}
}

// callGRPC makes a call and reports whether it is allowed.
func callGRPC(address string, certificate tls.Certificate, c *permissiontest.Call) (bool, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"},
		InsecureSkipVerify: true, // the server is not what is tested
	}}
	connection, err := dialer.Dial("tcp", address)
	if err != nil {
		return false, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return false, err
	}
	fields, _, err := exchangeHTTP2(connection, c, hpack.HeaderField{Name: "content-type", Value: "application/grpc"}, hpack.HeaderField{Name: "te", Value: "trailers"})
	switch status := fields["grpc-status"]; {
	case err != nil:
		return false, err
	case status == fmt.Sprint(int(codes.OK)):
		return true, nil
	case status == fmt.Sprint(int(codes.PermissionDenied)):
		return false, nil
	}
	return false, fmt.Errorf("answered %v", fields)
}

// startGRPC runs a gRPC server with the filters of the trials until the test
// ends, and returns its address.
func startGRPC(t *testing.T, ca *envoytest.Authority, trials []trial) string {
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	management, workload := listen(), listen()
	ads := grpc.NewServer(grpc.Creds(insecure.NewCredentials()))
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(ads, &listenerServer{resource: grpcListener(t, workload.Addr().(*net.TCPAddr), trials)})
	serve(t, ads, management)

	clients := x509.NewCertPool()
	clients.AddCert(ca.Certificate)
	modes := make(chan xds.ServingModeChangeArgs, 10)
	server, err := xds.NewGRPCServer(
		xds.ServingModeCallback(func(_ net.Addr, mode xds.ServingModeChangeArgs) { modes <- mode }),
		grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{ca.Issue(t, "spiffe://shop.mesh/ns/backend/sa/backend")},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: clients,
		})),
		grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error { return nil }),
		xds.BootstrapContentsForTesting(fmt.Appendf(nil, `{
			"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]}],
			"node": {"id": "server"}, "server_listener_resource_name_template": "server/%%s"}`, management.Addr())),
	)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server, workload)
	select {
	case mode := <-modes:
		if mode.Mode != connectivity.ServingModeServing {
			t.Fatalf("the gRPC server does not serve: %v", mode.Err)
		}
	case <-envoytest.Limit(t).Done():
		t.Fatal("the gRPC server does not serve")
	}
	return workload.Addr().String()
}

func serve(t *testing.T, server interface {
	Serve(net.Listener) error
	Stop()
}, l net.Listener) {
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
}

// listenerServer answers each request for listeners with the one that it has.
type listenerServer struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	resource *anypb.Any
}

func (s *listenerServer) StreamAggregatedResources(stream grpc.BidiStreamingServer[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]) error {
	for {
		r, err := stream.Recv()
		switch {
		case err != nil:
			return err
		case r.GetErrorDetail() != nil:
			return fmt.Errorf("refused: %s", r.GetErrorDetail().GetMessage())
		case r.GetVersionInfo() != "":
			continue // an ACK
		}
		if err := stream.Send(&discoveryv3.DiscoveryResponse{
			VersionInfo: "1", Nonce: "1", TypeUrl: r.GetTypeUrl(), Resources: []*anypb.Any{s.resource},
		}); err != nil {
			return err
		}
	}
}

func grpcListener(t *testing.T, address *net.TCPAddr, trials []trial) *anypb.Any {
	hosts := make([]*routev3.VirtualHost, len(trials))
	for i := range trials {
		hosts[i] = &routev3.VirtualHost{
			Name: trials[i].name, Domains: []string{trials[i].name},
			Routes: []*routev3.Route{{
				Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
				Action: &routev3.Route_NonForwardingAction{NonForwardingAction: &routev3.NonForwardingAction{}},
			}},
			TypedPerFilterConfig: map[string]*anypb.Any{rbac.HTTPFilterName: pack(t, &rbacv3.RBACPerRoute{Rbac: rulesFilter(t, trials[i].permissions)})},
		}
	}
	manager := &hcmv3.HttpConnectionManager{
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{Name: "trials", VirtualHosts: hosts}},
		HttpFilters: []*hcmv3.HttpFilter{
			{Name: rbac.HTTPFilterName, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: pack(t, rulesFilter(t, &permission.Permissions{Protocol: request.HTTP}))}},
			{Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: pack(t, &routerv3.Router{})}},
		},
	}
	return pack(t, &listenerv3.Listener{
		Name: "server/" + address.String(),
		Address: &xdscore.Address{Address: &xdscore.Address_SocketAddress{SocketAddress: &xdscore.SocketAddress{
			Address: address.IP.String(), PortSpecifier: &xdscore.SocketAddress_PortValue{PortValue: uint32(address.Port)},
		}}},
		FilterChains: []*listenerv3.FilterChain{{
			Name:    "all",
			Filters: []*listenerv3.Filter{{Name: "manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: pack(t, manager)}}},
		}},
	})
}

func rulesFilter(t *testing.T, p *permission.Permissions) *rbacv3.RBAC {
	filter, err := rbac.New(p, rbac.RulesForm, "")
	if err != nil {
		t.Fatal(err)
	}
	out := &rbacv3.RBAC{}
	if err := filter.Config.UnmarshalTo(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func pack(t *testing.T, m proto.Message) *anypb.Any {
	out, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
