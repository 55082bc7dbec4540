package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/admission"
)

// reviews is the listener of Options.Admission.
type reviews struct {
	tls      *tlsReloader // nil: there is no listener
	listener net.Listener // nil before the server listens
}

// init reads the TLS files. The error is that they are invalid or missing.
func (r *reviews) init(s *Server) (err error) {
	if s.options.Admission == "" {
		return nil
	}
	r.tls, err = newTLSReloader(s.options.AdmissionTLS, reviewTLS, s.options.Logger)
	return err
}

// reviewTLS makes the configuration of a server whose client, the API server, usually has no
// certificate.
func reviewTLS(files TLSFiles, read tlsContents) (*tls.Config, error) {
	if files.ClientCA != "" {
		return serverTLS(files, read)
	}
	certificate, err := keyPair(files, read)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
		CipherSuites: cipherSuites,
	}, err
}

func (r *reviews) listen(address string) (err error) {
	if r.tls == nil {
		return nil
	}
	if r.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("admission: %w", err)
	}
	return nil
}

// AdmissionAddr returns the address of Options.Admission, once the server runs.
func (s *Server) AdmissionAddr() net.Addr { return s.reviews.listener.Addr() }

// serveReviews answers the reviews of an API server until the context ends.
func (s *Server) serveReviews(ctx context.Context, cancel context.CancelCauseFunc) {
	handler := admission.New(admission.Options{
		Current: s.shown, Loader: s.options.Loader, Translators: s.options.Translators,
		Refuses: s.options.RefuseFindings, RefuseLate: s.options.RefuseLate, Log: s.clientLog,
	})
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.reviews.tls.current(), nil },
	}
	l := tls.NewListener(newFairListener(s.reviews.listener, maxConnections, maxConnectionsPeer, firstByteTimeout), config)
	s.options.Logger.Info("reviews of an API server are answered on https://" + s.reviews.listener.Addr().String())
	s.serveHandler(ctx, cancel, l, handler)
}
