package resource

import (
	"net/netip"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Destination is an object to which workloads send requests: a [MeshService], a
// [MeshExternalService] or a [MeshMultiZoneService]. An outbound is one port of one
// destination (SPEC 17.3).
type Destination interface {
	Object
	// Ports returns the ports in the order of the document.
	Ports() []DestinationPort
	// State returns the status that the control plane wrote.
	State() *DestinationStatus
	// Created returns the CreationTime.
	Created() time.Time
}

// DestinationPort is a port of a destination.
type DestinationPort struct {
	Number   uint32
	Name     string // may be empty
	Protocol string // default: tcp
}

// SectionName returns the section by which a reference selects the port: its name, or
// its number if it has no name.
func (p DestinationPort) SectionName() string { return sectionName(p.Name, p.Number) }

// defaultProtocol is the protocol of a port that has none.
const defaultProtocol = "tcp"

// DestinationStatus is the part of a destination's status on which results depend
// (SPEC 17.2). The other fields of a status are ignored.
type DestinationStatus struct {
	VIPs      []netip.Addr // the virtual addresses; if empty, no dataplane reaches it by one
	Hostnames []string
	TLSReady  bool // of a MeshService: all its dataplanes accept TLS
	// MeshServices are the MeshServices that a MeshMultiZoneService selects, by
	// display name.
	MeshServices []MeshServiceName
}

// MeshServiceName identifies a MeshService of any zone.
type MeshServiceName struct {
	Name      string `json:"name"` // the display name
	Namespace string `json:"namespace,omitzero"`
	Zone      string `json:"zone,omitzero"`
	Mesh      string `json:"mesh,omitzero"`
}

// State returns the status.
func (s *DestinationStatus) State() *DestinationStatus { return s }

type destinationStatusDoc struct {
	Addresses    []*strict.Value `json:"addresses,omitzero"`
	VIPs         []*strict.Value `json:"vips,omitzero"`
	VIP          *strict.Value   `json:"vip,omitzero"`
	TLS          *strict.Value   `json:"tls,omitzero"`
	MeshServices []*strict.Value `json:"meshServices,omitzero"`
}

// decodeStatus reads a status. The control plane writes it, so unknown fields are
// not errors.
func (s *DestinationStatus) decodeStatus(in *strict.Value) {
	var doc destinationStatusDoc
	strict.DecodePart(in, &doc)
	vips := doc.VIPs
	if doc.VIP != nil {
		vips = append(vips, doc.VIP)
	}
	for _, vip := range vips {
		var of struct {
			IP netip.Addr `json:"ip,omitzero"`
		}
		if strict.DecodePart(vip, &of); of.IP.IsValid() {
			s.VIPs = append(s.VIPs, of.IP)
		}
	}
	for _, address := range doc.Addresses {
		var of struct {
			Hostname string `json:"hostname,omitzero"`
		}
		if strict.DecodePart(address, &of); of.Hostname != "" {
			s.Hostnames = append(s.Hostnames, of.Hostname)
		}
	}
	if doc.TLS != nil {
		var of struct {
			Status string `json:"status,omitzero"`
		}
		strict.DecodePart(doc.TLS, &of)
		s.TLSReady = of.Status == "Ready"
	}
	for _, service := range doc.MeshServices {
		var name MeshServiceName
		strict.DecodePart(service, &name)
		s.MeshServices = append(s.MeshServices, name)
	}
}

// Created returns the creation time.
func (o *ObjectOf[S]) Created() time.Time { return o.CreationTime }
