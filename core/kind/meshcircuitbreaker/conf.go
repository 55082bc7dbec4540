package meshcircuitbreaker

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshCircuitBreaker: limits of concurrent connections
// and requests, and the detection of failing endpoints.
//
//confgen:conf hash schema
//confgen:openapi {"minProperties": 1}
type Conf struct {
	ConnectionLimits *ConnectionLimits `json:"connectionLimits,omitzero"`
	OutlierDetection *OutlierDetection `json:"outlierDetection,omitzero"`
}

// ConnectionLimits limits the concurrent connections and requests to a service.
type ConnectionLimits struct {
	MaxConnections     *conf.Count `json:"maxConnections,omitzero"`
	MaxConnectionPools *conf.Count `json:"maxConnectionPools,omitzero"`
	MaxPendingRequests *conf.Count `json:"maxPendingRequests,omitzero"`
	MaxRetries         *conf.Count `json:"maxRetries,omitzero"`
	MaxRequests        *conf.Count `json:"maxRequests,omitzero"`
}

// OutlierDetection ejects failing endpoints for some time.
//
//confgen:openapi {"anyOf": [{"required": ["detectors"]}, {"required": ["healthyPanicThreshold"]}, {"required": ["disabled"], "properties": {"disabled": {"enum": [true]}}}]}
type OutlierDetection struct {
	Disabled *bool `json:"disabled,omitzero"`
	// Interval is the time between two evaluations of the detectors.
	Interval *conf.PositiveDuration `json:"interval,omitzero"`
	// BaseEjectionTime is multiplied by the number of times that the endpoint
	// has been ejected.
	BaseEjectionTime *conf.PositiveDuration `json:"baseEjectionTime,omitzero"`
	// MaxEjectionPercent is the maximum share of ejected endpoints.
	MaxEjectionPercent *conf.Percent `json:"maxEjectionPercent,omitzero"`
	// SplitExternalAndLocalErrors separates errors of the proxy itself, such as
	// a refused connection, from error responses of the endpoint.
	SplitExternalAndLocalErrors *bool      `json:"splitExternalAndLocalErrors,omitzero"`
	Detectors                   *Detectors `json:"detectors,omitzero"`
	// HealthyPanicThreshold is the share of healthy endpoints below which all
	// endpoints are used.
	HealthyPanicThreshold *conf.Percentage `json:"healthyPanicThreshold,omitzero"`
}

// Detectors are the ways to detect a failing endpoint; the present ones are in use.
//
//confgen:openapi {"minProperties": 1}
type Detectors struct {
	TotalFailures       *Consecutive       `json:"totalFailures,omitzero"`
	GatewayFailures     *Consecutive       `json:"gatewayFailures,omitzero"`
	LocalOriginFailures *Consecutive       `json:"localOriginFailures,omitzero"`
	SuccessRate         *SuccessRate       `json:"successRate,omitzero"`
	FailurePercentage   *FailurePercentage `json:"failurePercentage,omitzero"`
}

// Consecutive detects a number of consecutive failures.
type Consecutive struct {
	Consecutive *conf.Count `json:"consecutive,omitzero"`
}

// SuccessRate detects endpoints that succeed less often than the others.
type SuccessRate struct {
	// MinimumHosts is the minimum number of endpoints that must have had
	// RequestVolume requests in an interval.
	MinimumHosts  *conf.Count `json:"minimumHosts,omitzero"`
	RequestVolume *conf.Count `json:"requestVolume,omitzero"`
	// StandardDeviationFactor is the number of standard deviations below the mean at
	// which an endpoint is ejected.
	StandardDeviationFactor *conf.IntOrString `json:"standardDeviationFactor,omitzero"`
}

// FailurePercentage detects endpoints that fail more often than Threshold.
type FailurePercentage struct {
	MinimumHosts  *conf.Count   `json:"minimumHosts,omitzero"`
	RequestVolume *conf.Count   `json:"requestVolume,omitzero"`
	Threshold     *conf.Percent `json:"threshold,omitzero"`
}
