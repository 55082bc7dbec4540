package bootstrap

import (
	"fmt"
	"net/netip"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// ADSCluster is the name of the cluster for a proxy's xDS server.
const ADSCluster = "ads"

// A proxy pings its server once in adsKeepAlive, and closes the connection if nothing
// arrives within adsKeepAliveTimeout.
const (
	adsKeepAlive        = 30 * time.Second
	adsKeepAliveTimeout = 10 * time.Second
)

// A proxy whose stream ended waits for a random time up to adsBackOff before it opens
// another one. The bound doubles, up to adsMaxBackOff, after each stream that ends without
// a response. Envoy's own bounds are 0.5 s and 30 s, which is too long here: a stream that
// resumes often gets no response, because nothing changed.
const (
	adsBackOff    = 200 * time.Millisecond
	adsMaxBackOff = time.Second
)

// Server is how a proxy reaches its xDS server.
type Server struct {
	Host string // an IP address or a host name
	Port uint16
	// The paths of PEM files on the proxy's machine. CA has the certificates that verify
	// the server; if it is empty, there is no TLS. Certificate and Key are what the proxy
	// presents; both are empty if it presents nothing.
	CA, Certificate, Key string
}

// ADS returns a bootstrap with which a proxy fetches its resources by delta ADS (SPEC
// 11.7). The identity is the dataplane's; nil if it has none.
func ADS(d *resource.Dataplane, id *identity.Identity, server Server, o Options) *bootstrapv3.Bootstrap {
	b := newBootstrap(d, id, o)
	b.StaticResources.Clusters = append(b.StaticResources.Clusters, server.cluster())
	if o.Drain != nil {
		b.Node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{
			wire.DrainMetadata: structpb.NewStringValue(fmt.Sprintf("%ds", *o.Drain/time.Second)),
		}}
	}
	b.DynamicResources = &bootstrapv3.Bootstrap_DynamicResources{
		AdsConfig: &corev3.ApiConfigSource{
			ApiType:             corev3.ApiConfigSource_DELTA_GRPC,
			TransportApiVersion: corev3.ApiVersion_V3,
			GrpcServices: []*corev3.GrpcService{{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
				EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: ADSCluster, RetryPolicy: &corev3.RetryPolicy{
					RetryBackOff: &corev3.BackoffStrategy{BaseInterval: durationpb.New(adsBackOff), MaxInterval: durationpb.New(adsMaxBackOff)},
				}},
			}}},
			SetNodeOnFirstMessageOnly: true,
		},
		LdsConfig: message.FromADS(),
		CdsConfig: message.FromADS(),
	}
	return b
}

func (s *Server) cluster() *clusterv3.Cluster {
	c := message.NewStaticCluster(ADSCluster, message.SocketAddress(s.Host, uint32(s.Port)), message.OutboundConnectTimeout)
	if !s.isAddress() {
		message.Resolve(c)
	}
	options := message.NewHTTPOptions(message.GRPC, 0)
	options.GetExplicitHttpConfig().GetHttp2ProtocolOptions().ConnectionKeepalive = &corev3.KeepaliveSettings{
		Interval: durationpb.New(adsKeepAlive), Timeout: durationpb.New(adsKeepAliveTimeout),
	}
	message.SetHTTPOptions(c, options)
	c.UpstreamConnectionOptions = &clusterv3.UpstreamConnectionOptions{TcpKeepalive: &corev3.TcpKeepalive{
		KeepaliveTime: wrapperspb.UInt32(uint32(adsKeepAlive / time.Second)),
	}}
	if s.CA != "" {
		c.TransportSocket = message.TransportSocket(s.tls())
	}
	return c
}

func (s *Server) isAddress() bool {
	_, err := netip.ParseAddr(s.Host)
	return err == nil
}

// tls returns the TLS of a connection to the server, whose certificate must have its host
// as a SAN.
func (s *Server) tls() *tlsv3.UpstreamTlsContext {
	name := &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_IP_ADDRESS,
		Matcher: message.Exactly(s.Host),
	}
	m := &tlsv3.UpstreamTlsContext{CommonTlsContext: &tlsv3.CommonTlsContext{
		AlpnProtocols: []string{"h2"},
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: &tlsv3.CertificateValidationContext{
			TrustedCa: message.FileSource(s.CA), MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{name},
		}},
	}}
	if !s.isAddress() {
		name.SanType = tlsv3.SubjectAltNameMatcher_DNS
		m.Sni = s.Host
	}
	if s.Certificate != "" {
		m.CommonTlsContext.TlsCertificates = []*tlsv3.TlsCertificate{{
			CertificateChain: message.FileSource(s.Certificate), PrivateKey: message.FileSource(s.Key),
		}}
	}
	return m
}
