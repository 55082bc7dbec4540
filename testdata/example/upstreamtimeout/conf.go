package upstreamtimeout

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what an UpstreamTimeout sets for an outbound.
//
//confgen:conf
type Conf struct {
	ConnectTimeout *conf.Duration `json:"connectTimeout,omitzero"`
	HTTP           *HTTP          `json:"http,omitzero"`
}

// HTTP is the timeouts of requests; zero switches one off.
type HTTP struct {
	RequestTimeout    *conf.Duration `json:"requestTimeout,omitzero"`
	StreamIdleTimeout *conf.Duration `json:"streamIdleTimeout,omitzero"`
	IdleTimeout       *conf.Duration `json:"idleTimeout,omitzero"`
}
