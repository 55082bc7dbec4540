package envoytest

import (
	"context"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// healthServer is the gRPC service of a workload: the health service. The metadata of
// a call have its instructions: "code" is the number of the status of the answer,
// "fail" limits it to the first calls. The service "not/NAME" is not served by the
// workload of this name.
type healthServer struct {
	healthv1.UnimplementedHealthServer
	app   *App
	calls atomic.Int64
}

func newHealthServer(a *App) *grpc.Server {
	s := grpc.NewServer()
	healthv1.RegisterHealthServer(s, &healthServer{app: a})
	return s
}

// Check implements the service. The header x-app of an answer is the name of the
// workload.
func (s *healthServer) Check(ctx context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	if err := grpc.SetHeader(ctx, metadata.Pairs("x-app", s.app.Name)); err != nil {
		return nil, err
	}
	if code, ok := instruction(ctx, "code"); ok {
		if fail, limited := instruction(ctx, "fail"); !limited || s.calls.Add(1) <= fail {
			return nil, status.Error(codes.Code(code), "by instruction")
		}
	}
	if r.Service == "not/"+s.app.Name {
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
}

func instruction(ctx context.Context, name string) (int64, bool) {
	values := metadata.ValueFromIncomingContext(ctx, name)
	if len(values) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	return n, err == nil
}
