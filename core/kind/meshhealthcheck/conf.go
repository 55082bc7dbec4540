package meshhealthcheck

import (
	"strings"
	"unicode"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshHealthCheck: the frequency of checks, the
// evaluation of results, and the check of each protocol.
//
//confgen:conf hash schema
//confgen:openapi {"minProperties": 1}
type Conf struct {
	// Interval is the time between two checks, and Timeout limits one check.
	Interval *conf.PositiveDuration `json:"interval,omitzero"`
	Timeout  *conf.PositiveDuration `json:"timeout,omitzero"`
	// UnhealthyThreshold and HealthyThreshold are the numbers of consecutive checks
	// that change an endpoint's state.
	UnhealthyThreshold *conf.Count `json:"unhealthyThreshold,omitzero"`
	HealthyThreshold   *conf.Count `json:"healthyThreshold,omitzero"`
	// InitialJitter, IntervalJitter and IntervalJitterPercent spread the
	// checks over time.
	InitialJitter         *conf.PositiveDuration `json:"initialJitter,omitzero"`
	IntervalJitter        *conf.PositiveDuration `json:"intervalJitter,omitzero"`
	IntervalJitterPercent *conf.Percent          `json:"intervalJitterPercent,omitzero"`
	// HealthyPanicThreshold is the share of healthy endpoints below which all endpoints
	// are used, or none with FailTrafficOnPanic.
	HealthyPanicThreshold *conf.Percentage `json:"healthyPanicThreshold,omitzero"`
	FailTrafficOnPanic    *bool            `json:"failTrafficOnPanic,omitzero"`
	// EventLogPath is the file to which changes of state are written and, with
	// AlwaysLogHealthCheckFailures, every failure.
	EventLogPath                 *conf.Path `json:"eventLogPath,omitzero"`
	AlwaysLogHealthCheckFailures *bool      `json:"alwaysLogHealthCheckFailures,omitzero"`
	// NoTrafficInterval is the interval for services without traffic.
	NoTrafficInterval *conf.PositiveDuration `json:"noTrafficInterval,omitzero"`
	TCP               *TCP                   `json:"tcp,omitzero"`
	HTTP              *HTTP                  `json:"http,omitzero"`
	GRPC              *GRPC                  `json:"grpc,omitzero"`
	ReuseConnection   *bool                  `json:"reuseConnection,omitzero"`
}

// TCP is a check by a connection. It may send and expect bytes.
type TCP struct {
	Disabled *bool `json:"disabled,omitzero"`
	// Send and Receive are base64. The response must contain every element of Receive,
	// in this order.
	Send    *Base64  `json:"send,omitzero"`
	Receive []Base64 `json:"receive,omitzero"`
}

// HTTP is a check by a GET request.
type HTTP struct {
	Disabled            *bool                `json:"disabled,omitzero"`
	Path                *conf.Path           `json:"path,omitzero"`
	RequestHeadersToAdd *conf.HeaderModifier `json:"requestHeadersToAdd,omitzero"`
	// ExpectedStatuses are the statuses of a healthy endpoint; nil means 200.
	ExpectedStatuses []conf.StatusCode `json:"expectedStatuses,omitzero"`
}

// GRPC is a check by the gRPC health service.
type GRPC struct {
	Disabled    *bool   `json:"disabled,omitzero"`
	ServiceName *string `json:"serviceName,omitzero"`
	Authority   *string `json:"authority,omitzero"`
}

// Validate checks that the conf has a setting.
func (c *Conf) Validate(at *diag.At) { conf.RefuseIdle(at, c) }

// Validate reports an authority that no request can have.
func (g *GRPC) Validate(at *diag.At) {
	if g.Authority != nil && strings.ContainsFunc(*g.Authority, unicode.IsControl) {
		at.Field("authority").Errorf(diag.BadValue, "remove it", "an authority must not have a control character")
	}
}

// InKuma3 leaves out HealthyPanicThreshold, which a MeshCircuitBreaker has in Kuma 3.
func (c *Conf) InKuma3() (resource.Conf, []string) {
	if c.HealthyPanicThreshold == nil {
		return c, nil
	}
	next := *c
	next.HealthyPanicThreshold = nil
	return &next, []string{"/healthyPanicThreshold"}
}
