package meshtimeout

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a MeshTimeout sets for connections and requests. Zero switches
// a timeout off.
//
//confgen:conf hash
type Conf struct {
	// ConnectionTimeout is how long a connection may take to be established,
	// never zero.
	ConnectionTimeout *conf.Duration `json:"connectionTimeout,omitzero"`
	// IdleTimeout is how long a connection may carry no traffic.
	IdleTimeout *conf.Duration `json:"idleTimeout,omitzero"`
	HTTP        *HTTP          `json:"http,omitzero"`
}

// HTTP is the timeouts of HTTP connections, streams and requests.
type HTTP struct {
	// RequestTimeout is how long the whole response may take.
	RequestTimeout *conf.Duration `json:"requestTimeout,omitzero"`
	// StreamIdleTimeout is how long a stream may carry no traffic.
	StreamIdleTimeout *conf.Duration `json:"streamIdleTimeout,omitzero"`
	// MaxStreamDuration is how long a stream may live.
	MaxStreamDuration *conf.Duration `json:"maxStreamDuration,omitzero"`
	// MaxConnectionDuration is how long a connection may live.
	MaxConnectionDuration *conf.Duration `json:"maxConnectionDuration,omitzero"`
	// RequestHeadersTimeout is how long a client may take to send the headers.
	RequestHeadersTimeout *conf.Duration `json:"requestHeadersTimeout,omitzero"`
}
