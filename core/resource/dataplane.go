package resource

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// Mesh is a mesh document. A mesh exists as soon as it contains a resource,
// with or without a Mesh document.
type Mesh struct {
	Meta
	Spec specs.Mesh
}

// Dataplane is a proxy and the workload that it serves (SPEC 1.3). Fields of
// Kuma's Dataplane that do not affect matching are validated and dropped.
type Dataplane struct {
	Meta
	Address           string
	AdvertisedAddress string // for other dataplanes; empty: Address
	Inbounds          []Inbound
	Outbounds         []Outbound    // may be shared with other dataplanes of a load
	Gateway           *GatewayProxy // nil for a sidecar; excludes Inbounds
	TransparentProxy  *TransparentProxy
	// Listeners are the listeners of a zone proxy. They are selected like inbounds
	// (SPEC 17.3).
	Listeners []Listener

	derived *derived // itself, if Derive made it; nil or another one: it is a document
}

// derived is a Dataplane that [Dataplane.Derive] made. A plain copy of the Dataplane is
// none: it is a new document after a change.
type derived struct {
	Dataplane
	from *Dataplane
}

// Derive returns a copy of the declared dataplane to which change was applied. Change must
// replace lists and must not write into them.
func (d *Dataplane) Derive(change func(copied *Dataplane)) *Dataplane {
	made := &derived{*d.Declared(), d.Declared()}
	change(&made.Dataplane)
	made.derived = made
	return &made.Dataplane
}

// Declared returns the dataplane as its document declares it: d itself, unless Derive made
// it.
func (d *Dataplane) Declared() *Dataplane {
	if d.derived != nil && d == &d.derived.Dataplane {
		return d.derived.from
	}
	return d
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
	Port           uint32
	Name           string
	Address        string // of the listener; empty: the dataplane's address
	ServicePort    uint32 // of the workload; 0: Port
	ServiceAddress string // of the workload; empty: 127.0.0.1
	Protocol       string
	Tags           Tags
	// NotReady inbounds are selected like others, but are not endpoints.
	NotReady bool
	// Ignored inbounds are not ready either, and give a listener that they share with others
	// neither its name nor its protocol.
	Ignored bool
}

// SectionName returns the sectionName by which a targetRef selects the
// inbound: its name, or its port if it has no name (SPEC 2.2).
func (i *Inbound) SectionName() string { return sectionName(i.Name, i.Port) }

// sectionName returns the section of a port: its name, or its number if it has no
// name.
func sectionName(name string, port uint32) string {
	if name != "" {
		return name
	}
	return strconv.FormatUint(uint64(port), 10)
}

// IsHTTP reports whether the inbound speaks HTTP: its protocol or, without one,
// its protocol tag is http, http2 or grpc (SPEC 1.3).
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
	// Backend refers to the destination (SPEC 17.3); nil: Tags do.
	Backend *BackendRef
}

// Listener is a port of a zone proxy.
type Listener struct {
	Egress   bool // of a ZoneEgress, not of a ZoneIngress
	Name     string
	Address  string // empty: the dataplane's
	Port     uint32
	Tags     Tags
	NotReady bool
}

// Type returns the type of the listener in a document.
func (l *Listener) Type() string {
	if l.Egress {
		return ZoneEgressKind
	}
	return ZoneIngressKind
}

// SectionName returns the sectionName by which a targetRef selects the listener.
func (l *Listener) SectionName() string { return sectionName(l.Name, l.Port) }

// GatewayProxy makes a dataplane a gateway.
type GatewayProxy struct {
	Builtin bool
	Tags    Tags
	// MeshGateway configures the listeners of a builtin gateway. It is not part of the
	// document: an engine sets it in a derived dataplane (SPEC 17.3).
	MeshGateway *MeshGateway
}

// GatewayListeners returns the listeners of a builtin gateway that has a MeshGateway. The
// caller must not change the slice.
func (d *Dataplane) GatewayListeners() []specs.GatewayListener {
	if d.Gateway == nil || d.Gateway.MeshGateway == nil {
		return nil
	}
	return d.Gateway.MeshGateway.Spec.Conf.Listeners
}

// TransparentProxy describes the redirection of the workload's connections to
// the proxy.
type TransparentProxy struct {
	RedirectPortInbound  uint32
	RedirectPortOutbound uint32
	IPFamilyMode         string // UnSpecified, DualStack, IPv4 or IPv6; empty: UnSpecified
	// DirectAccessServices are the services that the workload reaches by the
	// addresses of their endpoints; AnyValue means all services.
	DirectAccessServices []string
	ReachableServices    []string
	// ReachableBackends are the only destinations that the workload reaches; nil: all,
	// empty: none (SPEC 17.3).
	ReachableBackends []BackendRef
}

// ListenersAsInbounds returns a copy of the dataplane that has its listeners instead of its
// inbounds, with a protocol. Policies select the listeners of a zone proxy like inbounds, so
// the confs of these inbounds are the confs of the listeners (SPEC 17.4).
func (d *Dataplane) ListenersAsInbounds(protocol string) *Dataplane {
	proxy := *d
	proxy.Inbounds, proxy.Outbounds, proxy.Listeners, proxy.Gateway = nil, nil, nil, nil
	for i := range d.Listeners {
		l := &d.Listeners[i]
		proxy.Inbounds = append(proxy.Inbounds, Inbound{
			Port: l.Port, Name: l.Name, Address: l.Address, Protocol: protocol, Tags: l.Tags, NotReady: l.NotReady,
		})
	}
	return &proxy
}

// KRI returns the identifier of the dataplane, or of the inbound with the
// given [Inbound.SectionName].
func (d *Dataplane) KRI(section string) string { return kri(dataplaneShort, &d.Meta, section) }

// WorkloadKRI returns the KRI of the workload that the label kuma.io/workload names, or
// "" without the label.
func (d *Dataplane) WorkloadKRI() string {
	meta := d.Meta
	if meta.Name = d.Labels.Value(WorkloadLabel); meta.Name == "" {
		return ""
	}
	return kri("wl", &meta, "")
}
