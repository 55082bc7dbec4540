package meshfaultinjection

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshFaultInjection for an inbound.
//
//confgen:conf schema
type Conf struct {
	// HTTP contains the faults; each is injected independently of the others.
	HTTP []Fault `json:"http,omitzero"`
}

// Fault is one or more of three changes to a request.
//
//confgen:openapi {"minProperties": 1}
type Fault struct {
	Abort             *Abort             `json:"abort,omitzero"`
	Delay             *Delay             `json:"delay,omitzero"`
	ResponseBandwidth *ResponseBandwidth `json:"responseBandwidth,omitzero"`
}

// Abort responds without forwarding the request to the service.
//
//confgen:openapi {"allOf": [{"properties": {"httpStatus": {"minimum": 200}}}]}
type Abort struct {
	HTTPStatus conf.StatusCode `json:"httpStatus"`
	Percentage conf.Percentage `json:"percentage"`
}

// Delay waits before the request is forwarded to the service.
//
//confgen:openapi {"allOf": [{"properties": {"value": {"pattern": "[1-9]"}}}]}
type Delay struct {
	Value      conf.Duration   `json:"value"`
	Percentage conf.Percentage `json:"percentage"`
}

// ResponseBandwidth limits the speed of the response.
type ResponseBandwidth struct {
	Limit      Bandwidth       `json:"limit"`
	Percentage conf.Percentage `json:"percentage"`
}
