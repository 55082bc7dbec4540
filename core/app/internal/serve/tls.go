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

// TLSFiles are the paths of PEM files: a certificate with its key, and the CAs of the other
// side.
type TLSFiles struct {
	Certificate, Key, ClientCA string
}

// rereadAfter is how long the files are not read again.
const rereadAfter = time.Second

// A tlsReloader has the TLS configuration of the current files. If they are invalid, the
// previous configuration stays in use.
type tlsReloader struct {
	files TLSFiles
	build func(TLSFiles, tlsContents) (*tls.Config, error)
	log   *slog.Logger

	mu      sync.Mutex
	checked time.Time
	read    tlsContents
	config  *tls.Config
	failed  string // the last error, which is logged once
}

// tlsContents are the contents of TLSFiles. That of a file without a path is nil.
type tlsContents struct{ certificate, key, ca []byte }

func (c tlsContents) equal(other tlsContents) bool {
	return bytes.Equal(c.certificate, other.certificate) && bytes.Equal(c.key, other.key) && bytes.Equal(c.ca, other.ca)
}

// newTLSReloader reads the files for the first time.
func newTLSReloader(files TLSFiles, build func(TLSFiles, tlsContents) (*tls.Config, error), log *slog.Logger) (*tlsReloader, error) {
	r := &tlsReloader{files: files, build: build, log: log}
	return r, r.load()
}

// current returns the configuration. That of a server requires a client certificate.
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
	var read tlsContents
	for _, file := range []struct {
		of, path string
		content  *[]byte
	}{
		{"certificate", r.files.Certificate, &read.certificate}, {"key", r.files.Key, &read.key}, {"CAs", r.files.ClientCA, &read.ca},
	} {
		if file.path == "" {
			continue
		}
		content, err := os.ReadFile(file.path)
		if err != nil {
			return fmt.Errorf("the %s: %w", file.of, err)
		}
		*file.content = content
	}
	if r.config != nil && read.equal(r.read) {
		return nil
	}
	config, err := r.build(r.files, read)
	if err != nil {
		return err
	}
	r.read, r.config = read, config
	return nil
}

// serverTLS makes the configuration of a server.
func serverTLS(files TLSFiles, read tlsContents) (*tls.Config, error) {
	certificate, err := keyPair(files, read)
	if err != nil {
		return nil, err
	}
	clients, err := certificatePool(files, read)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, NextProtos: []string{"h2", "http/1.1"},
		CipherSuites:           cipherSuites,
		SessionTicketsDisabled: true, // a resumed session would not be verified with new CAs
	}, nil
}

// cipherSuites are the cipher suites of TLS 1.2 that HTTP/2 permits (RFC 9113, appendix A).
var cipherSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

func keyPair(files TLSFiles, read tlsContents) (tls.Certificate, error) {
	certificate, err := tls.X509KeyPair(read.certificate, read.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", files.Certificate, err)
	}
	return certificate, nil
}

func certificatePool(files TLSFiles, read tlsContents) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(read.ca) {
		return nil, fmt.Errorf("%s: %w", files.ClientCA, errors.New("there is no certificate in PEM"))
	}
	return pool, nil
}

// server returns a configuration of HTTPS that uses the current files at each handshake. A
// client needs no certificate.
func (r *tlsReloader) server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := r.current().Clone()
			config.ClientAuth = tls.VerifyClientCertIfGiven
			return config, nil
		},
	}
}
