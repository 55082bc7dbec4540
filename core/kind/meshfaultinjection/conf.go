package meshfaultinjection

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a MeshFaultInjection sets for an inbound.
//
//confgen:conf
type Conf struct {
	// HTTP is the faults, each of which happens or not for itself.
	HTTP []Fault `json:"http,omitzero"`
}

// Fault is what is done to a request: any of the three, at least one.
type Fault struct {
	Abort             *Abort             `json:"abort,omitzero"`
	Delay             *Delay             `json:"delay,omitzero"`
	ResponseBandwidth *ResponseBandwidth `json:"responseBandwidth,omitzero"`
}

// Abort answers without asking the service.
type Abort struct {
	HTTPStatus conf.StatusCode `json:"httpStatus"`
	Percentage conf.Percentage `json:"percentage"`
}

// Delay waits before the service is asked.
type Delay struct {
	Value      conf.Duration   `json:"value"`
	Percentage conf.Percentage `json:"percentage"`
}

// ResponseBandwidth slows the response down.
type ResponseBandwidth struct {
	Limit      Bandwidth       `json:"limit"`
	Percentage conf.Percentage `json:"percentage"`
}
