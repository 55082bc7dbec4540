package server

import (
	"context"
	"net"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// TestGRPCHasWriteStatus pins an internal of grpc-go that drain.go needs: the transport
// stream of a call has the method WriteStatus, which sends a status while the handler waits
// in RecvMsg, and makes that return. If this fails after an update of gRPC, Drain needs
// another way to end streams, such as a goroutine for each that receives.
func TestGRPCHasWriteStatus(t *testing.T) {
	listen := bufconn.Listen(1 << 10)
	g := grpc.NewServer()
	returned := make(chan error, 1)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, waiting{returned: returned})
	go func() { _ = g.Serve(listen) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient("passthrough:memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listen.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	client, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the client gets %v", err)
	}
	if err := <-returned; err == nil {
		t.Error("RecvMsg returns no error")
	}
}

// waiting ends a call from another goroutine than the one that receives.
type waiting struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	returned chan error
}

func (w waiting) DeltaAggregatedResources(conn discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	ender := enderOf(conn.Context())
	if ender == nil {
		w.returned <- nil
		return status.Error(codes.Internal, "the transport stream has no method WriteStatus")
	}
	go func() { _ = ender.WriteStatus(status.Convert(errDraining)) }()
	_, err := conn.Recv()
	w.returned <- err
	return nil
}
