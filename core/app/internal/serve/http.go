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
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/regular"
)

// The limits of the HTTP server.
const (
	maxConnections     = 1000
	maxConnectionsPeer = 250 // of one address
	maxRequests        = 32  // at a time on one connection of HTTP/2
	maxHeaderBytes     = 64 << 10
	firstByteTimeout   = 5 * time.Second
	headerTimeout      = 5 * time.Second
	readTimeout        = 10 * time.Second
	idleTimeout        = 30 * time.Second // between two requests
	writeTimeout       = time.Minute
	maxSource          = 16 << 20 // of a file whose text a page shows
)

// Handler returns the handler of HTTP requests: health, metrics, the status of
// dataplanes, the Inspect API and the pages.
func (s *Server) Handler() http.Handler {
	mux := s.health()
	mux.HandleFunc(loginPath, s.login)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("GET /dataplanes/{kri}/status", s.dataplaneStatus)
	mux.HandleFunc("GET /converged", s.converged)
	mux.Handle("/", s.pages(inspectapi.New(s.shown, s.options.Translators)))
	return withoutPrefix(s.options.HTTPPrefix, s.guard(mux))
}

// pages returns the handler of the pages, with another one for the paths below /meshes that
// are no pages.
func (s *Server) pages(fallback http.Handler) http.Handler {
	o := pages.Options{
		Current: s.shown, Loader: s.options.Loader, Translators: s.options.Translators,
		Load: s.shownLoad, Changes: s.changes.last, Changed: s.changes.changed,
		TLS: s.tls != nil, Prefix: s.options.HTTPPrefix, Version: s.options.Version, Fallback: fallback,
	}
	o.ReadSource = func(file string) ([]byte, error) { return regular.ReadGiven(s.options.Files, file, maxSource) }
	if !s.options.PagesOnly {
		o.Proxies, o.Clients = s.ads, s.shownClients
	}
	return pages.New(o)
}

// shown returns what HTTP answers about; nil before the first load.
func (s *Server) shown() *proxied.State { return s.publisher.current.Load().shown }

// shownLoad returns the outcome of the loads for pages.
func (s *Server) shownLoad() pages.Load {
	load := s.loads.shown()
	if store := s.storeStatus(time.Now()); store != nil {
		load.Store, load.StoreConnected, load.StoreAge = store.Name, store.Connected, -1
		if store.Age != nil {
			load.StoreAge = time.Duration(*store.Age * float64(time.Second))
		}
	}
	return load
}

// withoutPrefix removes a prefix from the paths of requests. Requests without it are
// answered too: a proxy may have removed it, and probes do not have it.
func withoutPrefix(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	stripped := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == prefix:
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
		case strings.HasPrefix(r.URL.Path, prefix+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// health returns a mux with the paths that need no authorization.
func (s *front) health() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	return mux
}

// readyz answers GET /readyz. With the parameter verbose, lines after the first one are about what
// is wrong and is served nevertheless. They have no names, because no client is authorized here.
func (s *front) readyz(w http.ResponseWriter, r *http.Request) {
	if !s.isReady() {
		inspectapi.WriteProblem(w, http.StatusServiceUnavailable, "there is nothing to serve yet: the first load has not finished")
		return
	}
	fmt.Fprintln(w, "ok")
	if s.concerns != nil && r.URL.Query().Has("verbose") {
		for _, line := range s.concerns() {
			fmt.Fprintln(w, line)
		}
	}
}

// guard authorizes requests. If a handler panics, it answers with an error.
func (s *front) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if reason := recover(); reason != nil && reason != http.ErrAbortHandler {
				s.clientLog.Error(fmt.Sprintf("the request %.20s %.500q failed: %v", r.Method, r.URL.Path, reason), "stack", string(debug.Stack()))
				inspectapi.WriteProblem(w, http.StatusInternalServerError, "the request failed; the log has the reason")
			}
		}()
		open := r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == loginPath || pages.IsAsset(r.URL.Path)
		switch {
		case s.tls == nil && !s.options.Insecure && !s.isOwnHost(r.Host):
			inspectapi.WriteProblem(w, http.StatusMisdirectedRequest, "without TLS the host of a request must be localhost, an IP address or a configured host name")
		case open || s.authorize(w, r):
			next.ServeHTTP(w, r)
		}
	})
}

// isOwnHost reports whether the host of a request belongs to this server. A page of
// another site, loaded in a browser, sends the host name of that site.
func (s *front) isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if name, ok := strings.CutPrefix(host, "["); ok { // an IPv6 address without a port
		if host, ok = strings.CutSuffix(name, "]"); !ok || !strings.Contains(host, ":") {
			return false
		}
	}
	isName := func(name string) bool { return strings.EqualFold(name, strings.TrimSuffix(host, ".")) }
	return isName("localhost") || net.ParseIP(host) != nil || slices.ContainsFunc(s.options.HTTPHosts, isName)
}

// serveHTTP serves HTTP until the context ends.
func (s *front) serveHTTP(ctx context.Context, cancel context.CancelCauseFunc) {
	var l net.Listener = newFairListener(s.httpListener, maxConnections, maxConnectionsPeer, firstByteTimeout)
	scheme := "http"
	if s.tls != nil {
		l, scheme = tls.NewListener(l, s.tls.server()), "https"
	}
	s.options.Logger.Info("HTTP is served on " + scheme + "://" + s.httpListener.Addr().String())
	s.serveHandler(ctx, cancel, l, s.handler())
}

// serveHealth serves only health, without TLS, until the context ends.
func (s *front) serveHealth(ctx context.Context, cancel context.CancelCauseFunc) {
	s.options.Logger.Info("health is served on http://" + s.healthListener.Addr().String())
	s.serveHandler(ctx, cancel, newFairListener(s.healthListener, maxConnections, maxConnectionsPeer, firstByteTimeout), s.health())
}

// serveHandler serves the requests of a listener until the context ends. Then it waits for
// requests in progress.
func (s *front) serveHandler(ctx context.Context, cancel context.CancelCauseFunc, l net.Listener, handler http.Handler) {
	h := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxRequests},
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.clientLog.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		within, done := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
		defer done()
		if h.Shutdown(within) != nil {
			h.Close()
		}
	})
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		cancel(fmt.Errorf("HTTP: %w", err))
	}
	if !stop() {
		<-ended
	}
}
