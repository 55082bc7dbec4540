package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/serve/inspectapi"
)

// The limits of the HTTP server.
const (
	maxConnections = 1000
	maxHeaderBytes = 64 << 10
	readTimeout    = 10 * time.Second
	writeTimeout   = time.Minute
)

// Handler returns the handler of HTTP requests: health, metrics, the status of
// dataplanes and the Inspect API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /dataplanes/{kri}/status", s.status)
	mux.HandleFunc("GET /converged", s.converged)
	mux.Handle("/", inspectapi.New(func() (*core.View, *resource.Set) {
		if p := s.publisher.current.Load(); p.set != nil {
			return p.view, p.set
		}
		return nil, nil
	}, s.weakened))
	return s.guard(mux)
}

// weakened implements [inspectapi.Weakened] by what is served now.
func (s *Server) weakened(d *resource.Dataplane) []diag.Diagnostic {
	p := s.publisher.current.Load()
	if d = p.view.Dataplane(d.ID); d == nil {
		return nil
	}
	return p.state.Weakened(d)
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.publisher.current.Load().set == nil {
		inspectapi.WriteProblem(w, http.StatusServiceUnavailable, "the first load is not done")
		return
	}
	fmt.Fprintln(w, "ok")
}

// guard admits requests, and answers those that panic.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if reason := recover(); reason != nil && reason != http.ErrAbortHandler {
				s.options.Logger.Error(fmt.Sprintf("the request %s %q failed: %v", r.Method, r.URL.Path, reason), "stack", string(debug.Stack()))
				inspectapi.WriteProblem(w, http.StatusInternalServerError, "the question could not be answered; the log has the reason")
			}
		}()
		isHealth := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		switch {
		case s.tls != nil && !isHealth && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0):
			inspectapi.WriteProblem(w, http.StatusUnauthorized, "a client certificate is required")
		case s.tls == nil && !s.options.Insecure && !isLoopbackHost(r.Host):
			inspectapi.WriteProblem(w, http.StatusMisdirectedRequest, "without TLS the host of a request must be localhost or an IP address")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLoopbackHost reports whether the host of a request is no name that a foreign page
// in a browser could have been loaded from.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(host) != nil
}

// serveHTTP serves HTTP until the context ends.
func (s *Server) serveHTTP(ctx context.Context, cancel context.CancelCauseFunc) {
	h := &http.Server{
		Handler: s.Handler(), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: time.Minute, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() {
		within, done := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
		defer done()
		if h.Shutdown(within) != nil {
			h.Close()
		}
	})
	defer stop()
	l := netutil.LimitListener(s.httpListener, maxConnections)
	scheme := "http"
	if s.tls != nil {
		l, scheme = tls.NewListener(l, s.tls.server(tls.VerifyClientCertIfGiven)), "https"
	}
	s.options.Logger.Info("HTTP is served on " + scheme + "://" + s.httpListener.Addr().String())
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		cancel(fmt.Errorf("HTTP: %w", err))
	}
}
