package envoytest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An App is a workload that answers HTTP/1.1, HTTP/2 without TLS and gRPC
// (app_grpc.go), and records its requests. Without instructions it answers 200. The
// query of a request has its instructions:
//
//	app=NAME    limits the instructions to the workload of this name
//	status=503  is the status of the answer
//	fail=2      limits this status to the first two requests of the path
//	delay=1s    is how long the answer takes
//	size=1024   is the length of the body in bytes
//	header=a:b  adds a header to the answer
//
// The header x-app of an answer is the name of the workload.
type App struct {
	Name string

	server *http.Server
	mu     sync.Mutex
	seen   map[string][]http.Header // of each request, by path

	connections atomic.Int64
}

// NewApp starts a workload at an address until it is closed.
func NewApp(name, address string) (*App, error) {
	listener, err := Listen(address)
	if err != nil {
		return nil, err
	}
	a := &App{Name: name, seen: map[string][]http.Header{}}
	calls := newHealthServer(a)
	a.server = &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			if !failCall(w, r, a.record(r)) {
				calls.ServeHTTP(w, r)
			}
			return
		}
		a.serve(w, r)
	})}
	a.server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			a.connections.Add(1)
		}
	}
	a.server.Protocols.SetHTTP1(true)
	a.server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = a.server.Serve(listener) }()
	return a, nil
}

// Close stops the workload; its connections end.
func (a *App) Close() error { return a.server.Close() }

// Connections returns how many connections there were.
func (a *App) Connections() int { return int(a.connections.Load()) }

// Requests returns the headers of the requests so far to a path, with any query. The header Host
// is one of them.
func (a *App) Requests(path string) []http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen[path])
}

// record adds a request, and returns how many there are of its path.
func (a *App) record(r *http.Request) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	path := r.URL.Path
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	a.seen[path] = append(a.seen[path], header)
	return len(a.seen[path])
}

func (a *App) serve(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	number := a.record(r)
	instructions := r.URL.Query()
	if app := instructions.Get("app"); app != "" && app != a.Name {
		instructions = nil
	}
	if wait, err := time.ParseDuration(instructions.Get("delay")); err == nil && !sleep(r.Context(), wait) {
		return
	}
	for _, header := range instructions["header"] {
		name, value, _ := strings.Cut(header, ":")
		w.Header().Add(name, value)
	}
	w.Header().Set("x-app", a.Name)
	if status, err := strconv.Atoi(instructions.Get("status")); err == nil {
		if fail, err := strconv.Atoi(instructions.Get("fail")); err != nil || number <= fail {
			w.WriteHeader(status)
		}
	}
	if size, err := strconv.Atoi(instructions.Get("size")); err == nil {
		_, _ = io.WriteString(w, strings.Repeat("x", size)) // the client may be gone
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s\n", a.Name, r.URL)
}

// sleep waits, and reports whether the request is still of interest.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
