package main

import (
	"context"
	"net"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
)

// serve serves a cache. It calls nacked for each answer that a client refuses: the client then
// keeps what it had.
func serve(ctx context.Context, listener net.Listener, cache cachev3.Cache, nacked func(typeURL, message string)) error {
	g := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, serverv3.NewServer(ctx, cache, serverv3.CallbackFuncs{
		StreamRequestFunc: func(_ int64, r *discoveryv3.DiscoveryRequest) error {
			if r.ErrorDetail != nil {
				nacked(r.TypeUrl, r.ErrorDetail.Message)
			}
			return nil
		},
		StreamDeltaRequestFunc: func(_ int64, r *discoveryv3.DeltaDiscoveryRequest) error {
			if r.ErrorDetail != nil {
				nacked(r.TypeUrl, r.ErrorDetail.Message)
			}
			return nil
		},
	}))
	return g.Serve(listener)
}
