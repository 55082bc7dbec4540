package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// adsCredentials make each TLS handshake of ADS with the current files. All connections share
// one configuration, and keep nothing more of a handshake than the client's certificate. With
// credentials.NewTLS, each has its own configuration, and a copy of the connection's state.
type adsCredentials struct {
	credentials.TransportCredentials // of a client; not used
	files                            *tlsReloader
}

var errNoHTTP2 = errors.New("the client does not offer HTTP/2 by ALPN")

// ServerHandshake implements credentials.TransportCredentials.
func (c adsCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn := tls.Server(raw, c.files.current())
	err := conn.Handshake()
	state := conn.ConnectionState()
	if err == nil && state.NegotiatedProtocol != "h2" {
		err = errNoHTTP2
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	return conn, clientInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, state.PeerCertificates[0]}, nil
}

// clientInfo is the verified certificate of the client of a connection.
type clientInfo struct {
	credentials.CommonAuthInfo
	certificate *x509.Certificate
}

// AuthType implements credentials.AuthInfo.
func (clientInfo) AuthType() string { return "tls" }

// Clone implements credentials.TransportCredentials.
func (c adsCredentials) Clone() credentials.TransportCredentials {
	return adsCredentials{c.TransportCredentials.Clone(), c.files}
}
