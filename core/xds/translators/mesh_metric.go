package translators

import (
	"fmt"
	"net/url"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshMetric translates MeshMetric: a listener for each Prometheus backend, which
// serves the proxy's own metrics.
func meshMetric() xds.Translator {
	return xds.Translator{
		Kind:  "MeshMetric",
		Proxy: with(prometheusListeners),
		Ignored: []xds.IgnoredField{
			{Field: "/applications", Reason: "the proxy does not scrape applications; let Prometheus scrape them"},
			{Field: "/backends/*/openTelemetry", Reason: "sinks of metrics are a part of Envoy's bootstrap, which policies do not change"},
			{Field: "/backends/*/prometheus/clientId", Reason: "the endpoint is the same for each Prometheus server"},
		},
		IgnoredByGRPC: ignoredByGRPC(noGRPC, ""),
	}
}

func prometheusListeners(p *xds.Proxy, e *results.Effective, metric *meshmetric.Conf) {
	query := url.Values{}
	if s := metric.Sidecar; s == nil || !isTrue(s.IncludeUnused) {
		query.Set("usedonly", "")
	}
	if filter := metricFilter(p, e, metric.Sidecar); filter != "" {
		query.Set("filter", filter)
	}
	stats := "/stats/prometheus?" + query.Encode()
	for i := range metric.Backends {
		if b := metric.Backends[i].Prometheus; b != nil {
			prometheusListener(p, e, i, b, stats)
		}
	}
}

// prometheusListener adds the listener of one backend. Stats is the path and query at
// the admin interface.
func prometheusListener(p *xds.Proxy, e *results.Effective, index int, b *meshmetric.Prometheus, stats string) {
	port, path := valueOr(b.Port, meshmetric.DefaultPort), valueOr(b.Path, meshmetric.DefaultPath)
	address := p.Dataplane.Address
	manager := &hcmv3.HttpConnectionManager{
		StatPrefix: "prometheus",
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
			VirtualHosts: []*routev3.VirtualHost{{Name: "prometheus", Domains: []string{"*"}, Routes: []*routev3.Route{{
				Match: &routev3.RouteMatch{
					PathSpecifier: &routev3.RouteMatch_Path{Path: string(path)},
					Headers:       []*routev3.HeaderMatcher{methodMatcher("GET")},
				},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{
					ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: message.AdminCluster},
					PrefixRewrite:    stats,
				}},
			}}}},
		}},
	}
	chain := &listenerv3.FilterChain{Filters: (&xds.Filters{Manager: manager}).List()}
	if b.TLS != nil && b.TLS.Mode != nil {
		field := fmt.Sprintf("/backends/%d/prometheus", index)
		switch *b.TLS.Mode {
		case meshmetric.TLSActiveMTLSBackend:
			if chain.TransportSocket = p.TransportSocket(); chain.TransportSocket == nil {
				p.Warn(diag.AbsentDependency, e, field, "the dataplane has no identity for ActiveMTLSBackend; the endpoint is left out")
				return
			}
		case meshmetric.TLSProvided:
			p.Warn(diag.AbsentDependency, e, field, "the proxy has no certificate other than its identity, so ProvidedTLS is not possible; the endpoint is left out")
			return
		}
	}
	p.Add(xds.PrometheusOrigin, &listenerv3.Listener{
		Name:             fmt.Sprintf("prometheus/%s/%d", address, port),
		Address:          message.SocketAddress(address, uint32(port)),
		TrafficDirection: corev3.TrafficDirection_INBOUND,
		FilterChains:     []*listenerv3.FilterChain{chain},
	})
}
