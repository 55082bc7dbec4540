package meshratelimit

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshRateLimit for an inbound.
//
//confgen:conf schema
//confgen:openapi {"minProperties": 1}
type Conf struct {
	// Local contains the limits that each proxy counts separately.
	Local *Local `json:"local,omitzero"`
}

// Local contains the limits of requests and of connections.
//
//confgen:openapi {"minProperties": 1}
type Local struct {
	HTTP *HTTP `json:"http,omitzero"`
	TCP  *TCP  `json:"tcp,omitzero"`
}

// HTTP limits requests.
//
//confgen:openapi {"minProperties": 1}
type HTTP struct {
	Disabled    *bool        `json:"disabled,omitzero"`
	RequestRate *Rate        `json:"requestRate,omitzero"`
	OnRateLimit *OnRateLimit `json:"onRateLimit,omitzero"`
}

// OnRateLimit is the response to a request above the limit.
type OnRateLimit struct {
	// Status is 429 if it is nil.
	Status  *conf.StatusCode     `json:"status,omitzero"`
	Headers *conf.HeaderModifier `json:"headers,omitzero"`
}

// TCP limits connections.
//
//confgen:openapi {"minProperties": 1}
type TCP struct {
	Disabled       *bool `json:"disabled,omitzero"`
	ConnectionRate *Rate `json:"connectionRate,omitzero"`
}

// Rate is a number of events in an interval. A Rate is replaced as a whole: the number
// and the interval of one Rate never come from different policies.
//
//confgen:openapi {"allOf": [{"properties": {"interval": {"pattern": "[1-9]"}}}]}
type Rate struct {
	Num      conf.Count    `json:"num" policyMerge:"replace"`
	Interval conf.Duration `json:"interval" policyMerge:"replace"`
}
