package envoytest

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// healthServer is the gRPC service of a workload: the health service. The service
// "not/NAME" is not served by the workload of this name. The answer for "after/1s"
// takes this time.
type healthServer struct {
	healthv1.UnimplementedHealthServer
	app *App
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
	if text, found := strings.CutPrefix(r.Service, "after/"); found {
		wait, err := time.ParseDuration(text)
		if err != nil || !sleep(ctx, wait) {
			return nil, cmp.Or(err, ctx.Err())
		}
	}
	if r.Service == "not/"+s.app.Name {
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
}

// failCall answers a call by the instructions in its metadata, if it has some: "code" is
// the number of the status, "fail" limits it to the first calls. The status is in the
// first block of headers, where proxies read it for retries; a server of grpc-go sends
// two blocks.
func failCall(w http.ResponseWriter, r *http.Request, number int) bool {
	code := r.Header.Get("code")
	if code == "" {
		return false
	}
	if fail, err := strconv.Atoi(r.Header.Get("fail")); err == nil && number > fail {
		return false
	}
	w.Header().Set("content-type", "application/grpc")
	w.Header().Set("grpc-status", code)
	w.WriteHeader(http.StatusOK)
	return true
}
