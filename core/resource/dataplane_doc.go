package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// networkingDoc has the fields of Kuma's Dataplane.Networking. The fields that
// become fields of [Dataplane] are validated there.
type networkingDoc struct {
	Address           string       `json:"address"`
	AdvertisedAddress string       `json:"advertisedAddress,omitzero"`
	Inbound           []inboundDoc `json:"inbound,omitzero"`
	//confgen:type []outboundDoc
	Outbound            *strict.Value        `json:"outbound,omitzero"`
	Gateway             *gatewayDoc          `json:"gateway,omitzero"`
	TransparentProxying *transparentProxyDoc `json:"transparentProxying,omitzero"`
	Admin               *specs.EnvoyAdmin    `json:"admin,omitzero"`
	Listeners           []listenerDoc        `json:"listeners,omitzero"`
}

type inboundDoc struct {
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port    uint32 `json:"port"`
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"`
	//confgen:openapi {"maximum": 65535}
	ServicePort    uint32           `json:"servicePort,omitzero"`
	ServiceAddress string           `json:"serviceAddress,omitzero"`
	Protocol       string           `json:"protocol,omitzero"`
	Tags           Tags             `json:"tags,omitzero"`
	State          inboundState     `json:"state,omitzero"`
	Health         *healthDoc       `json:"health,omitzero"`
	ServiceProbe   *serviceProbeDoc `json:"serviceProbe,omitzero"`
}

type inboundState string

const (
	ready   inboundState = "Ready"
	ignored inboundState = "Ignored"
)

func (inboundState) Enum() []string { return []string{string(ready), "NotReady", string(ignored)} }

// healthDoc is false without a field: protobuf's JSON omits false.
type healthDoc struct {
	Ready bool `json:"ready,omitzero"`
}

type serviceProbeDoc struct {
	Interval           *conf.PositiveDuration `json:"interval,omitzero"`
	Timeout            *conf.PositiveDuration `json:"timeout,omitzero"`
	UnhealthyThreshold *conf.Count            `json:"unhealthyThreshold,omitzero" alias:"unhealthy_threshold"`
	HealthyThreshold   *conf.Count            `json:"healthyThreshold,omitzero" alias:"healthy_threshold"`
	TCP                *struct{}              `json:"tcp,omitzero"`
}

type outboundDoc struct {
	//confgen:openapi {"maximum": 65535}
	Port    uint32 `json:"port,omitzero"`
	Address string `json:"address,omitzero"`
	//confgen:type Tags
	Tags       outboundTags `json:"tags,omitzero"`
	BackendRef *backendDoc  `json:"backendRef,omitzero"`
}

// outboundTags are [Tags] in which a single tag needs no memory of its own: most outbounds only have the
// tag of their service, and the slices for these were a third of the allocations of a dataplane.
type outboundTags struct {
	isOne bool
	one   Tag
	many  Tags // if there is not one
}

// SetEntries implements [strict.Entries].
func (t *outboundTags) SetEntries(entries []strict.Entry) {
	*t = outboundTags{}
	if len(entries) == 1 {
		t.isOne, t.one = true, Tag{Key: entries[0].Name, Value: entries[0].Value}
		return
	}
	t.many.SetEntries(entries)
}

type gatewayDoc struct {
	Type gatewayType `json:"type,omitzero"`
	Tags Tags        `json:"tags,omitzero"`
}

type gatewayType string

func (gatewayType) Enum() []string { return []string{"DELEGATED", "BUILTIN"} }

type transparentProxyDoc struct {
	//confgen:openapi {"maximum": 65535}
	RedirectPortInbound   uint32       `json:"redirectPortInbound,omitzero"`
	RedirectPortInboundV6 redirectPort `json:"redirectPortInboundV6,omitzero"`
	//confgen:openapi {"maximum": 65535}
	RedirectPortOutbound uint32                `json:"redirectPortOutbound,omitzero"`
	DirectAccessServices []string              `json:"directAccessServices,omitzero"`
	ReachableServices    []string              `json:"reachableServices,omitzero"`
	ReachableBackends    *reachableBackendsDoc `json:"reachableBackends,omitzero"`
	IPFamilyMode         ipFamilyMode          `json:"ipFamilyMode,omitzero"`
}

type ipFamilyMode string

func (ipFamilyMode) Enum() []string { return []string{"UnSpecified", "DualStack", "IPv4", "IPv6"} }

type reachableBackendsDoc struct {
	Refs []backendDoc `json:"refs,omitzero"`
}

// listenerDoc is a port of a zone proxy.
type listenerDoc struct {
	Type    listenerType `json:"type,omitzero"`
	Name    string       `json:"name,omitzero"`
	Address string       `json:"address,omitzero"`
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port  uint32       `json:"port"`
	State inboundState `json:"state,omitzero"`
	Tags  Tags         `json:"tags,omitzero"`
}

type listenerType string

func (listenerType) Enum() []string { return []string{ZoneIngressKind, ZoneEgressKind} }

type metricsDoc struct {
	Name string        `json:"name,omitzero"`
	Type string        `json:"type,omitzero"`
	Conf *strict.Value `json:"conf,omitzero"`
}

type probesDoc struct {
	Port      conf.Port       `json:"port,omitzero"`
	Endpoints []probeEndpoint `json:"endpoints,omitzero"`
}

type probeEndpoint struct {
	InboundPort conf.Port `json:"inboundPort"`
	InboundPath conf.Path `json:"inboundPath"`
	Path        conf.Path `json:"path"`
}

type envoyDoc struct {
	XDSTransport xdsTransport `json:"xdsTransportProtocolVariant,omitzero"`
}

type xdsTransport string

func (xdsTransport) Enum() []string { return []string{"DEFAULT", "DELTA_GRPC", "GRPC"} }

// redirectPort may be 0, which disables the redirection.
//
//confgen:openapi {"maximum": 65535}
type redirectPort uint32

func (p redirectPort) Validate(at *diag.At) {
	if p > 65535 {
		at.Errorf(diag.OutOfRange, "a port is a number from 1 to 65535, or 0 for none", "bad port %d", uint32(p))
	}
}
