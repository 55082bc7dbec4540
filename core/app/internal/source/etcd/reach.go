package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// probeTimeout is how long an endpoint is probed after a request had no answer.
const probeTimeout = time.Second

// readable returns an error in words for an operator. The client reports only that there
// was no answer in time, so the endpoints are probed for the cause.
func (s *Store) readable(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w within %v: %w", errNoAnswer, timeout, s.unreachable())
	case errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrPermissionDenied) && s.options.User == "":
		return fmt.Errorf("%w; give a user with a password", err)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w; grant the user a role for keys with the prefix %s/", err, s.address.Prefix)
	}
	return err
}

// errNoAnswer indicates that it is not known whether a request was done.
var errNoAnswer = errors.New("no answer")

// errSilent is the cause if an endpoint can be reached.
var errSilent = errors.New("a connection can be made, but no request is answered; does the cluster have a leader?")

// unreachable returns why no endpoint answers: the error of each, or [errSilent].
func (s *Store) unreachable() error {
	if s.options.Client != nil { // it may connect to something else than the address
		return errSilent
	}
	results := make(chan error, len(s.address.Endpoints))
	for _, endpoint := range s.address.Endpoints {
		go func() { results <- s.probe(endpoint) }()
	}
	var all error
	for range s.address.Endpoints {
		err := <-results
		if err == nil {
			return errSilent
		}
		all = errors.Join(all, err)
	}
	return all
}

// probe connects to an endpoint, with TLS if the store has it.
func (s *Store) probe(endpoint string) error {
	dialer := &net.Dialer{Timeout: probeTimeout}
	if !s.address.TLS {
		conn, err := dialer.Dial("tcp", endpoint)
		if err == nil {
			conn.Close()
		}
		return err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.options.TLS != nil {
		config = s.options.TLS.Clone()
	}
	config.NextProtos = []string{"h2"}
	conn, err := tls.DialWithDialer(dialer, "tcp", endpoint, config)
	if err != nil {
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	defer conn.Close()
	// A server that refuses the certificate of the client reports it after the handshake.
	_ = conn.SetDeadline(time.Now().Add(probeTimeout / 4))
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	return nil
}
