package serve

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// upstreamCredentials returns the credentials of a relay for its upstream; without files there
// is no TLS. Each connection uses the current files.
func upstreamCredentials(files *TLSFiles, log *slog.Logger) (credentials.TransportCredentials, error) {
	if files == nil {
		return insecure.NewCredentials(), nil
	}
	r, err := newTLSReloader(*files, clientTLS, log)
	if err != nil {
		return nil, err
	}
	return reloadedCredentials{credentials.NewTLS(r.config), r}, nil
}

// clientTLS makes the configuration of a client. Without CAs in the files, it verifies the
// server by the CAs of the system.
func clientTLS(files TLSFiles, read tlsContents) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}}
	if files.ClientCA != "" {
		pool, err := certificatePool(files, read)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if files.Certificate != "" {
		certificate, err := keyPair(files, read)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// reloadedCredentials make each handshake of a client with the current files.
type reloadedCredentials struct {
	credentials.TransportCredentials // of the first files
	files                            *tlsReloader
}

// ClientHandshake implements credentials.TransportCredentials.
func (c reloadedCredentials) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(c.files.current()).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (c reloadedCredentials) Clone() credentials.TransportCredentials {
	return reloadedCredentials{c.TransportCredentials.Clone(), c.files}
}
