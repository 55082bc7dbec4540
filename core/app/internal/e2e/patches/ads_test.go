package patches

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// adsServer sends the resources of several dataplanes to one Envoy. Endpoints from files,
// and the order in which changes arrive, are different with a static bootstrap.
type adsServer struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	resources [wire.NumTypes]map[string]*anypb.Any
}

// startADS starts a server of snapshots and returns its address.
func startADS(t *testing.T, snapshots []*snapshot.Snapshot) *net.TCPAddr {
	s := &adsServer{}
	for kind := range wire.Type(wire.NumTypes) {
		s.resources[kind] = map[string]*anypb.Any{}
		for _, built := range snapshots {
			for _, r := range built.Resources(kind) {
				s.resources[kind][r.Name] = &anypb.Any{TypeUrl: kind.URL(), Value: r.Append(nil)}
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr)
}

// DeltaAggregatedResources answers each subscription once: nothing changes. A name that does not
// exist is removed. What Envoy rejects stays absent.
func (s *adsServer) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		kind, known := wire.TypeOf(r.TypeUrl)
		if !known || r.ResponseNonce != "" && len(r.ResourceNamesSubscribe) == 0 {
			continue
		}
		names := r.ResourceNamesSubscribe
		if len(names) == 0 || slices.Contains(names, "*") {
			for name := range s.resources[kind] {
				names = append(names, name)
			}
		}
		response := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: r.TypeUrl, Nonce: "n"}
		for _, name := range names {
			if resource := s.resources[kind][name]; resource != nil {
				response.Resources = append(response.Resources, &discoveryv3.Resource{Name: name, Version: "1", Resource: resource})
			} else if name != "*" {
				response.RemovedResources = append(response.RemovedResources, name)
			}
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}

// authorServer is a server of clusters that an author runs. The name of a cluster has its address.
type authorServer struct {
	clusterv3.UnimplementedClusterDiscoveryServiceServer
}

// startAuthor starts a server of an author, and returns its port.
func startAuthor(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	clusterv3.RegisterClusterDiscoveryServiceServer(server, authorServer{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr).Port
}

func (authorServer) DeltaClusters(stream clusterv3.ClusterDiscoveryService_DeltaClustersServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		response := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: wire.ClusterType.URL(), Nonce: "n"}
		for _, name := range r.ResourceNamesSubscribe {
			parts := strings.Split(name, "-") // found-ADDRESS-PORT
			if len(parts) != 3 {
				continue
			}
			port, err := strconv.ParseUint(parts[2], 10, 16)
			if err != nil {
				return err
			}
			response.Resources = append(response.Resources, &discoveryv3.Resource{
				Name: name, Version: "1", Resource: message.Any(message.NewStaticCluster(name, message.SocketAddress(parts[1], uint32(port)), time.Second)),
			})
		}
		if len(response.Resources) == 0 {
			continue
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}
