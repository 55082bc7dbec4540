package message

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// FromADS returns the config source for resources that the proxy's xDS server sends.
func FromADS() *corev3.ConfigSource { return new(adsSource).source() }

// adsSource is what FromADS returns, with its parts.
type adsSource struct {
	config    corev3.ConfigSource
	specifier corev3.ConfigSource_Ads
	ads       corev3.AggregatedConfigSource
}

func (a *adsSource) source() *corev3.ConfigSource {
	a.specifier.Ads = &a.ads
	a.config.ResourceApiVersion, a.config.ConfigSourceSpecifier = corev3.ApiVersion_V3, &a.specifier
	return &a.config
}

func fromCluster(name string) *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion: corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_ApiConfigSource{ApiConfigSource: &corev3.ApiConfigSource{
			ApiType: corev3.ApiConfigSource_GRPC, TransportApiVersion: corev3.ApiVersion_V3,
			GrpcServices: []*corev3.GrpcService{ToCluster(name)},
		}},
	}
}

// ToCluster returns a gRPC service that the endpoints of a cluster serve.
func ToCluster(name string) *corev3.GrpcService {
	return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: name},
	}}
}
