package serve

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLSFiles are the paths of PEM files: the server's certificate with its key, and the
// CAs of clients.
type TLSFiles struct {
	Certificate, Key, ClientCA string
}

// rereadAfter is how long the files are not read again.
const rereadAfter = time.Second

// tlsReloader has the TLS configuration of the current files. If they are invalid, the
// previous configuration stays in use.
type tlsReloader struct {
	files TLSFiles
	log   *slog.Logger

	mu      sync.Mutex
	checked time.Time
	read    [3][]byte
	config  *tls.Config
	failed  string // the last error, which is logged once
}

// newTLSReloader reads the files for the first time.
func newTLSReloader(files TLSFiles, log *slog.Logger) (*tlsReloader, error) {
	r := &tlsReloader{files: files, log: log}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// current returns the configuration. It requires a client certificate.
func (r *tlsReloader) current() *tls.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.checked) >= rereadAfter {
		r.checked = now
		failed := ""
		if err := r.load(); err != nil {
			failed = err.Error()
		}
		if failed != r.failed && failed != "" {
			r.log.Error("the TLS files cannot be used; the previous ones stay in use: " + failed)
		}
		r.failed = failed
	}
	return r.config
}

// load reads the files and makes the configuration if they changed.
func (r *tlsReloader) load() error {
	var read [3][]byte
	for i, path := range []string{r.files.Certificate, r.files.Key, r.files.ClientCA} {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read[i] = content
	}
	if r.config != nil && bytes.Equal(read[0], r.read[0]) && bytes.Equal(read[1], r.read[1]) && bytes.Equal(read[2], r.read[2]) {
		return nil
	}
	certificate, err := tls.X509KeyPair(read[0], read[1])
	if err != nil {
		return fmt.Errorf("%s: %w", r.files.Certificate, err)
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(read[2]) {
		return fmt.Errorf("%s: %w", r.files.ClientCA, errors.New("there is no certificate in PEM"))
	}
	r.read = read
	r.config = &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, NextProtos: []string{"h2", "http/1.1"},
		SessionTicketsDisabled: true, // a resumed session would not be verified with new CAs
	}
	return nil
}

// server returns a configuration that uses the current files at each handshake. The
// argument decides whether a client needs a certificate.
func (r *tlsReloader) server(auth tls.ClientAuthType) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := r.current()
			if config.ClientAuth != auth { // ADS shares one: each connection keeps its own
				config = config.Clone()
				config.ClientAuth = auth
			}
			return config, nil
		},
	}
}
