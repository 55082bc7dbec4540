package resource

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Mesh is a mesh document. None need exist: a mesh is there as soon as a
// resource names it.
type Mesh struct{ Meta }

// Dataplane is a proxy with the workload that it stands before (SPEC 1.3).
type Dataplane struct {
	Meta
	Address   string
	Inbounds  []Inbound
	Outbounds []Outbound
	Gateway   *GatewayProxy // nil for a sidecar; excludes Inbounds
}

// ProxyType returns [Gateway] or [Sidecar].
func (d *Dataplane) ProxyType() ProxyTypes {
	if d.Gateway != nil {
		return Gateway
	}
	return Sidecar
}

// Inbound is a port that the workload serves.
type Inbound struct {
	Port        uint32
	Name        string
	Address     string
	ServicePort uint32
	Protocol    string
	Tags        Tags
}

// SectionName is what a targetRef's sectionName calls the inbound: its name,
// or its port when it has none (SPEC 2.2).
func (i *Inbound) SectionName() string {
	if i.Name != "" {
		return i.Name
	}
	return strconv.FormatUint(uint64(i.Port), 10)
}

// IsHTTP reports whether the inbound speaks HTTP: its protocol, or else its
// protocol tag, is http, http2 or grpc (SPEC 1.3).
func (i *Inbound) IsHTTP() bool {
	protocol := i.Protocol
	if protocol == "" {
		protocol = i.Tags.Value(ProtocolTag)
	}
	return protocol == "http" || protocol == "http2" || protocol == "grpc"
}

// Outbound is a service that the workload calls.
type Outbound struct {
	Port    uint32
	Address string
	Tags    Tags
}

// GatewayProxy makes a dataplane a gateway.
type GatewayProxy struct {
	Builtin bool
	Tags    Tags
}

type networkingDoc struct {
	Address  string        `json:"address"`
	Inbound  []inboundDoc  `json:"inbound,omitzero"`
	Outbound []outboundDoc `json:"outbound,omitzero"`
	Gateway  *gatewayDoc   `json:"gateway,omitzero"`
}

type inboundDoc struct {
	Port        port    `json:"port"`
	Name        string  `json:"name,omitzero"`
	Address     string  `json:"address,omitzero"`
	ServicePort port    `json:"servicePort,omitzero"`
	Protocol    string  `json:"protocol,omitzero"`
	Tags        tagsDoc `json:"tags"`
}

func (d *inboundDoc) Validate(at *strict.At) {
	if _, ok := d.Tags[ServiceTag]; !ok {
		at.Field("tags").Field(ServiceTag).Errorf("", "required tag is missing")
	}
}

type outboundDoc struct {
	Port    port    `json:"port,omitzero"`
	Address string  `json:"address,omitzero"`
	Tags    tagsDoc `json:"tags,omitzero"`
}

type gatewayDoc struct {
	Type gatewayType `json:"type,omitzero"`
	Tags tagsDoc     `json:"tags,omitzero"`
}

type gatewayType string

func (gatewayType) Enum() []string { return []string{"DELEGATED", "BUILTIN"} }

type port uint32

func (p port) Validate(at *strict.At) {
	if p < 1 || p > 65535 {
		at.Errorf("a port is a number from 1 to 65535", "bad port %d", uint32(p))
	}
}

// tagsDoc is the tags of an inbound, outbound or gateway.
type tagsDoc map[string]string

func (t tagsDoc) Validate(at *strict.At) { conf.ValidateTags(at, t) }

func (n *networkingDoc) Validate(at *strict.At) {
	if n.Address == "" {
		at.Field("address").Errorf("", "must not be empty")
	}
}

func decodeDataplane(meta Meta, networking *strict.At) *Dataplane {
	var doc networkingDoc
	strict.Decode(networking, &doc)
	if doc.Gateway != nil && len(doc.Inbound) > 0 {
		networking.Field("gateway").Errorf("a gateway has no inbounds", "gateway and inbound are both present")
	}
	d := &Dataplane{Meta: meta, Address: doc.Address}
	for _, in := range doc.Inbound {
		d.Inbounds = append(d.Inbounds, Inbound{
			Port: uint32(in.Port), Name: in.Name, Address: in.Address,
			ServicePort: uint32(in.ServicePort), Protocol: in.Protocol, Tags: NewTags(in.Tags),
		})
	}
	for _, out := range doc.Outbound {
		d.Outbounds = append(d.Outbounds, Outbound{Port: uint32(out.Port), Address: out.Address, Tags: NewTags(out.Tags)})
	}
	if doc.Gateway != nil {
		d.Gateway = &GatewayProxy{Builtin: doc.Gateway.Type == "BUILTIN", Tags: NewTags(doc.Gateway.Tags)}
	}
	return d
}

// KRI returns the identifier of the dataplane, or of one of its inbounds,
// called by its [Inbound.SectionName].
func (d *Dataplane) KRI(section string) string { return KRI("dp", &d.Meta, section) }
