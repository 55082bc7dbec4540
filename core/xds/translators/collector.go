package translators

import (
	"net"
	"strconv"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A collector is where a proxy sends telemetry.
type collector struct {
	host string
	port uint32
	tls  bool
	grpc bool
}

// collectorAt returns the gRPC collector at an endpoint, which must be valid.
func collectorAt(endpoint conf.Endpoint) collector {
	host, port, _ := net.SplitHostPort(string(endpoint))
	number, _ := strconv.ParseUint(port, 10, 16)
	return collector{host: host, port: uint32(number), grpc: true}
}

// name returns the name of the collector's cluster, which determines its content.
func (c collector) name() string {
	name := "collector/" + net.JoinHostPort(c.host, strconv.Itoa(int(c.port)))
	if c.tls {
		name += "/tls"
	}
	if c.grpc {
		name += "/grpc"
	}
	return name
}

// cluster returns the collector's cluster.
func (c collector) cluster() *clusterv3.Cluster {
	return xds.NewCollectorCluster(c.name(), c.host, c.port, c.tls, c.grpc)
}

// grpcService returns how Envoy reaches the collector by gRPC.
func (c collector) grpcService() *corev3.GrpcService {
	return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: c.name()},
	}}
}

// clusterAdder is a draft to which clusters of collectors are added.
type clusterAdder interface{ AddCluster(*clusterv3.Cluster) }

const noCollector = "no resource describes a collector here; use endpoint"
