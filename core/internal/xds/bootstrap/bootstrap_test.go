package bootstrap_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// The providers of the identity of a dataplane.
const (
	none    = ""
	spire   = "{type: Spire, spire: {agent: {timeout: 3s}}}"
	bundled = "{type: Bundled, bundled: {autogenerate: {enabled: true}}}"
	files   = "{type: Extension, extension: {name: files, config: {certificate: '/{{ .Name }}.pem', privateKey: /key.pem, trustBundle: /ca.pem}}}"
	unnamed = `{type: Extension, extension: {name: files, config: {certificate: '/{{ label "absent" }}', privateKey: /key.pem, trustBundle: /ca.pem}}}`
)

// world returns the view of the dataplanes web and api. Web has an outbound to api.
func world(t *testing.T, provider string) *core.View {
	t.Helper()
	text := `{type: Dataplane, name: api, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: api}}]}}
---
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}`
	if provider != none {
		text += "\n---\n{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, provider: " + provider + "}}"
	}
	return coretest.View(t, text)
}

// web returns the dataplane with an outbound, and its identity.
func web(t *testing.T, view *core.View) (*resource.Dataplane, *identity.Identity) {
	t.Helper()
	d := view.Dataplanes("default")[1]
	id, err := view.Identities("default").IdentityOf(d)
	if err != nil {
		t.Fatal(err)
	}
	return d, id
}

var (
	byAddress = bootstrap.Server{Host: "10.0.0.9", Port: 5678, CA: "/xds-ca.pem"}
	byName    = bootstrap.Server{Host: "xds.example", Port: 5678, CA: "/xds-ca.pem", Certificate: "/cert.pem", Key: "/key.pem"}
	plain     = bootstrap.Server{Host: "10.0.0.9", Port: 5678}
)

func clusterOf(b *bootstrapv3.Bootstrap, name string) *clusterv3.Cluster {
	all := b.GetStaticResources().GetClusters()
	if i := slices.IndexFunc(all, func(c *clusterv3.Cluster) bool { return c.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// serverTLS returns the TLS of the connection to the server; nil if there is none.
func serverTLS(t *testing.T, b *bootstrapv3.Bootstrap) *tlsv3.UpstreamTlsContext {
	t.Helper()
	socket := clusterOf(b, bootstrap.ADSCluster).GetTransportSocket()
	if socket == nil {
		return nil
	}
	m := &tlsv3.UpstreamTlsContext{}
	if err := socket.GetTypedConfig().UnmarshalTo(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// socketOf returns the socket of the SPIRE agent; empty if there is none.
func socketOf(b *bootstrapv3.Bootstrap) string {
	for _, locality := range clusterOf(b, message.SpireCluster).GetLoadAssignment().GetEndpoints() {
		for _, endpoint := range locality.LbEndpoints {
			return endpoint.GetEndpoint().GetAddress().GetPipe().GetPath()
		}
	}
	return ""
}

// The bootstrap by which a proxy fetches its resources (SPEC 11.7).
func TestADS(t *testing.T) {
	drain := 60 * time.Second
	admin := netip.MustParseAddrPort("127.0.0.1:9901")
	for _, c := range []struct {
		rule     string
		provider string
		server   bootstrap.Server
		options  bootstrap.Options
		got      func(*bootstrapv3.Bootstrap) any
		want     any
	}{
		{"the node id is the KRI", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return b.Node.Id }, "kri_dp_default___web_"},
		{"the drain time is in the metadata of the node", none, plain, bootstrap.Options{Drain: &drain},
			func(b *bootstrapv3.Bootstrap) any { return b.Node.GetMetadata().AsMap() }, map[string]any{"meshmatch.drain": "60s"}},
		{"without a drain time there is no metadata", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return b.Node.Metadata == nil }, true},
		{"the protocol is delta ADS", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return b.DynamicResources.AdsConfig.ApiType.String() }, "DELTA_GRPC"},
		{"an Envoy that loses its stream reconnects within 1 s", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any {
			return b.DynamicResources.AdsConfig.GrpcServices[0].GetEnvoyGrpc().RetryPolicy.RetryBackOff.MaxInterval.AsDuration()
		}, time.Second},
		{"the admin interface", none, plain, bootstrap.Options{Admin: admin}, func(b *bootstrapv3.Bootstrap) any { return b.Admin.GetAddress().GetSocketAddress().GetPortValue() }, uint32(9901)},
		{"no admin interface", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return b.Admin == nil && clusterOf(b, message.AdminCluster) != nil }, true},
		{"the socket of SPIRE", spire, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return socketOf(b) }, "/run/spire/sockets/agent.sock"},
		{"another socket of SPIRE", spire, plain, bootstrap.Options{SpireSocket: "/agent.sock"}, func(b *bootstrapv3.Bootstrap) any { return socketOf(b) }, "/agent.sock"},
		{"the timeout of the agent", spire, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any {
			return clusterOf(b, message.SpireCluster).ConnectTimeout.AsDuration()
		}, 3 * time.Second},
		{"no socket without SPIRE", files, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return socketOf(b) }, ""},
		{"no TLS without a CA", none, plain, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return serverTLS(t, b) == nil }, true},
		{"the name of the server is verified", none, byName, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any {
			name := serverTLS(t, b).CommonTlsContext.GetValidationContext().MatchTypedSubjectAltNames[0]
			return name.SanType.String() + " " + name.Matcher.GetExact() + " " + serverTLS(t, b).Sni
		}, "DNS xds.example xds.example"},
		{"the address of the server is verified", none, byAddress, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any {
			name := serverTLS(t, b).CommonTlsContext.GetValidationContext().MatchTypedSubjectAltNames[0]
			return name.SanType.String() + " " + name.Matcher.GetExact() + " " + serverTLS(t, b).Sni
		}, "IP_ADDRESS 10.0.0.9 "},
		{"the proxy presents a certificate", none, byName, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any {
			return serverTLS(t, b).CommonTlsContext.TlsCertificates[0].CertificateChain.GetFilename()
		}, "/cert.pem"},
		{"the proxy presents nothing", none, byAddress, bootstrap.Options{}, func(b *bootstrapv3.Bootstrap) any { return len(serverTLS(t, b).CommonTlsContext.TlsCertificates) }, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d, id := web(t, world(t, c.provider))
			b := bootstrap.ADS(d, id, c.server, c.options)
			if err := b.ValidateAll(); err != nil {
				t.Error(err)
			}
			if got := c.got(b); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The bootstrap of gRPC (SPEC 11.7).
func TestGRPC(t *testing.T) {
	const provider = `{"plugin_name":"file_watcher","config":{"certificate_file":"%s","private_key_file":"/key.pem","ca_certificate_file":"%s","refresh_interval":"60s"}}`
	watched := func(certificate, ca string) string {
		return strings.Replace(strings.Replace(provider, "%s", certificate, 1), "%s", ca, 1)
	}
	for _, c := range []struct {
		rule, provider string
		server         bootstrap.Server
		credentials    string // for the server
		certificates   string // of the dataplane
		err            error
	}{
		{"without an identity there is no provider of certificates", none, plain, `{"type":"insecure"}`, ``, nil},
		{"TLS to the server", none, byAddress, `{"type":"tls","config":{"ca_certificate_file":"/xds-ca.pem"}}`, ``, nil},
		{"the files of an Extension", files, plain, `{"type":"insecure"}`, watched("/web.pem", "/ca.pem"), nil},
		{"else those for the server", spire, byName, `{"type":"tls","config":{"certificate_file":"/cert.pem","private_key_file":"/key.pem","ca_certificate_file":"/xds-ca.pem"}}`, watched("/cert.pem", "/xds-ca.pem"), nil},
		{"without either it is an error", bundled, byAddress, ``, ``, bootstrap.ErrGRPCFiles},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d, id := web(t, world(t, c.provider))
			config, err := bootstrap.GRPC(d, id, c.server)
			if !errors.Is(err, c.err) {
				t.Fatalf("got the error %v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			certificates := ""
			if c.certificates != "" {
				certificates = `,"certificate_providers":{"default":` + c.certificates + `}`
			}
			uri := c.server.Host + ":5678"
			want := `{"xds_servers":[{"server_uri":"` + uri + `","channel_creds":[` + c.credentials + `],"server_features":["xds_v3","resource_timer_is_transient_error"]}],` +
				`"node":{"id":"kri_dp_default___web_","cluster":"meshmatch"},"server_listener_resource_name_template":"inbound/%s"` + certificates + `}`
			got, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	d, id := web(t, world(t, unnamed))
	if config, err := bootstrap.GRPC(d, id, plain); err == nil {
		t.Errorf("a path with a label that the dataplane lacks: got %v", config)
	}
}

// A static bootstrap needs no server: nothing in it is fetched by ADS (SPEC 11.7).
func TestStatic(t *testing.T) {
	for _, c := range []struct{ rule, provider, has string }{
		{"in plain text", none, `"address":"10.0.0.2"`},
		{"Spire is reached by its socket", spire, `"path":"/agent.sock"`},
		{"files are on the machine of the proxy", files, `"filename":"/web.pem"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			view := world(t, c.provider)
			d, _ := web(t, view)
			s := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(d, xds.Envoy)
			b, err := bootstrap.Static(s, bootstrap.Options{SpireSocket: "/agent.sock"})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.ValidateAll(); err != nil {
				t.Error(err)
			}
			text, err := message.JSON(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, fetched := range []string{`"ads":`, `"rds":`, `"edsClusterConfig":`, `"dynamicResources":`} {
				if strings.Contains(string(text), fetched) {
					t.Errorf("the bootstrap has %s: %s", fetched, text)
				}
			}
			if !strings.Contains(string(text), c.has) {
				t.Errorf("the bootstrap lacks %s: %s", c.has, text)
			}
			if listeners := len(b.StaticResources.Listeners); listeners != 2 {
				t.Errorf("%d listeners, want the inbound and the outbound", listeners)
			}
		})
	}
	view := world(t, bundled)
	d, _ := web(t, view)
	s := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(d, xds.Envoy)
	if _, err := bootstrap.Static(s, bootstrap.Options{}); !errors.Is(err, bootstrap.ErrBundled) {
		t.Errorf("Bundled: got the error %v, want %v", err, bootstrap.ErrBundled)
	}
}
