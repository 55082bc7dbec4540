package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
)

// attempts returns a step that returns how many requests to a path a workload got.
func attempts(app, path string) func(*world) string {
	return func(w *world) string { return fmt.Sprint(len(w.apps[app].Requests(path))) }
}

// requestHeader returns a step that returns a header of the last request to a path that
// a workload got.
func requestHeader(app, path, name string) func(*world) string {
	return func(w *world) string {
		seen := w.apps[app].Requests(path)
		if len(seen) == 0 {
			return "no request"
		}
		return strings.Join(seen[len(seen)-1][name], ", ")
	}
}

// pause returns a step that waits.
func pause(d time.Duration) func(*world) string {
	return func(*world) string {
		time.Sleep(d)
		return ""
	}
}

// atOnce does a step several times at a time and returns its different results, sorted.
func atOnce(times int, do func(*world) string) func(*world) string {
	return func(w *world) string {
		var mu sync.Mutex
		var seen []string
		var wait sync.WaitGroup
		for range times {
			wait.Go(func() {
				got := do(w)
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, got)
			})
		}
		wait.Wait()
		slices.Sort(seen)
		return strings.Join(slices.Compact(seen), ", ")
	}
}

// after returns a step that does one thing and returns the result of another.
func after(do, then func(*world) string) func(*world) string {
	return func(w *world) string {
		do(w)
		return then(w)
	}
}

// eventually returns a step that repeats another until its result is the given one, and
// returns the last result. It does so for two seconds if another result is expected.
func eventually(want string, do func(*world) string) func(*world) string {
	return func(w *world) string {
		limit := 2 * time.Second
		if w.expected == want {
			limit = patience
		}
		got := do(w)
		for deadline := time.Now().Add(limit); got != want && time.Now().Before(deadline); got = do(w) {
			time.Sleep(20 * time.Millisecond)
		}
		return got
	}
}

// callGRPC returns a step that calls a gRPC service with metadata, and returns the code
// of the answer and the workload. The metadata are pairs of names and values.
func callGRPC(address string, pairs ...string) func(*world) string {
	return func(w *world) string {
		client, err := grpc.NewClient("passthrough:///"+w.local(address), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
		if err != nil {
			w.t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), pairs...), patience)
		defer cancel()
		var header metadata.MD
		_, err = healthv1.NewHealthClient(client).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.Header(&header))
		return strings.TrimSpace(grpcstatus.Code(err).String() + " " + strings.Join(header["x-app"], ""))
	}
}

// codeOf is callGRPC, without the workload that answered.
func codeOf(address string, pairs ...string) func(*world) string {
	return func(w *world) string {
		code, _, _ := strings.Cut(callGRPC(address, pairs...)(w), " ")
		return code
	}
}
