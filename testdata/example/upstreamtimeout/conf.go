package upstreamtimeout

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go tool confgen

// Conf is the conf of an UpstreamTimeout for an outbound.
//
//confgen:conf schema
type Conf struct {
	ConnectTimeout *conf.Duration `json:"connectTimeout,omitzero"`
	HTTP           *HTTP          `json:"http,omitzero"`
}

// HTTP contains the timeouts of requests; zero disables a timeout.
type HTTP struct {
	RequestTimeout    *conf.Duration `json:"requestTimeout,omitzero"`
	StreamIdleTimeout *conf.Duration `json:"streamIdleTimeout,omitzero"`
	IdleTimeout       *conf.Duration `json:"idleTimeout,omitzero"`
}
