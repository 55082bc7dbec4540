package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/meshmatch/meshmatch/core/internal/loglimit"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A front has the listeners of a [Server] or a [Relay]: ADS, HTTP and health, with TLS and
// the authorization of clients. Its owner sets what follows the listeners.
type front struct {
	options   Options
	tls       *tlsReloader // nil: no TLS
	operators *operators
	// clientLog is the logger for lines that clients can cause. What it leaves out is counted.
	clientLog *slog.Logger
	unlogged  atomic.Int64

	xdsListener, httpListener, healthListener net.Listener // the last one may be nil

	ads     *server.Server
	handler func() http.Handler // of HTTP
	isReady func() bool
	// concerns returns the lines of /readyz?verbose; nil: there are none.
	concerns func() []string
	// ownsPath reports whether a path is about a dataplane with a SPIFFE ID.
	ownsPath func(id string, u *url.URL) bool
}

// init sets the options. The error is that the TLS files or the token are invalid.
func (s *front) init(options Options) error {
	s.options = options
	s.clientLog = loglimit.New(options.Logger, &s.unlogged)
	if options.TLS != nil {
		var err error
		if s.tls, err = newTLSReloader(*options.TLS, serverTLS, options.Logger); err != nil {
			return err
		}
	}
	s.operators = &operators{ids: options.Operators, path: options.OperatorToken}
	return s.operators.load()
}

// Listen opens the listeners. If it was not called, [Server.Run] calls it. The error is
// from the operating system, or [ErrNotLoopback].
func (s *front) Listen() error {
	var err error
	if s.httpListener, err = s.listen(s.options.HTTP); err != nil {
		return fmt.Errorf("HTTP: %w", err)
	}
	if s.options.PagesOnly {
		return nil
	}
	if s.xdsListener, err = s.listen(s.options.XDS); err != nil {
		s.httpListener.Close()
		return fmt.Errorf("ADS: %w", err)
	}
	if s.options.Health == "" {
		return nil
	}
	// Health has no secrets: any address is allowed.
	if s.healthListener, err = net.Listen("tcp", s.options.Health); err != nil {
		s.xdsListener.Close()
		s.httpListener.Close()
		return fmt.Errorf("health: %w", err)
	}
	return nil
}

func (s *front) listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if s.tls == nil && !s.options.Insecure && !isLoopback(l.Addr()) {
		l.Close()
		return nil, fmt.Errorf("%s: %w", address, ErrNotLoopback)
	}
	return l, nil
}

// XDSAddr returns the address that ADS is served at, after [Server.Listen].
func (s *front) XDSAddr() net.Addr { return s.xdsListener.Addr() }

// HTTPAddr returns the address that HTTP is served at, after [Server.Listen].
func (s *front) HTTPAddr() net.Addr { return s.httpListener.Addr() }

// HealthAddr returns the address of Options.Health, after [Server.Listen].
func (s *front) HealthAddr() net.Addr { return s.healthListener.Addr() }

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// afterGrace is how long the server waits for streams whose connections are closed.
const afterGrace = 500 * time.Millisecond

// serveADS serves ADS until the context ends.
func (s *front) serveADS(ctx context.Context, cancel context.CancelCauseFunc) {
	var transport credentials.TransportCredentials
	if s.tls != nil {
		transport = adsCredentials{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), s.tls}
	}
	g := grpc.NewServer(s.ads.GRPCOptions(transport)...)
	s.ads.Register(g)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		s.ads.Drain()
		forced := time.AfterFunc(s.options.Grace, g.Stop)
		defer forced.Stop()
		g.GracefulStop()
	}()
	s.options.Logger.Info("ADS is served on " + s.xdsListener.Addr().String())
	go func() { // Serve waits for handlers, too
		if err := g.Serve(s.xdsListener); err != nil && ctx.Err() == nil {
			cancel(fmt.Errorf("ADS: %w", err))
		}
	}()
	<-ctx.Done()
	select { // GracefulStop waits for handlers, which may take long
	case <-stopped:
	case <-time.After(s.options.Grace + afterGrace):
	}
}
