package xds

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Origin is what a part of a snapshot belongs to. Its values are those that a
// MeshProxyPatch uses.
type Origin string

// The origins. A part that belongs to no inbound or outbound has the origin of its
// resource.
const (
	InboundOrigin     Origin = "inbound"
	OutboundOrigin    Origin = "outbound"
	IngressOrigin     Origin = "ingress" // a listener of a zone proxy, and what it leads to
	EgressOrigin      Origin = "egress"
	PrometheusOrigin  Origin = "prometheus"
	PassthroughOrigin Origin = "transparent"
	CollectorOrigin   Origin = "collector" // clusters of telemetry collectors
)

// A Part is one or a few finished messages of a snapshot, before they are marshalled.
type Part struct {
	Report
	// Lacks are the capabilities that the client does not have, as far as [Translator.Asks]
	// has them.
	Lacks  capability.Set
	Origin Origin
	// Places is the number of inbounds and outbounds of the dataplane, rounded up to a power of
	// two: a limit for all parts of a dataplane is shared by these.
	Places int
	// Tags are the tags of the inbound or outbound; nil for other origins.
	Tags resource.Tags
	// Names are further names of resources of the part, by their names: a MeshProxyPatch
	// may use those that Kuma gives them (SPEC 17.4).
	Names map[string][]string
	// Messages are clusters, load assignments, listeners or route configurations. A
	// translator may change, remove or add messages.
	Messages []proto.Message
	// OfKuma reports that the semantics is Kuma's: its proxies may have the part too.
	OfKuma bool
	// External reports that the endpoints of a load assignment are no proxies of the mesh.
	External bool

	// Sealed is the seal if the part is an inbound; nil if no change of the part can
	// weaken permissions by itself.
	Sealed *seal.Inbound
	// Changes are the references that patches add to the resources of the part.
	Changes []PartChange
}

// IsNamed reports whether name is the name of the resource, or one of its aliases (Names).
func (p *Part) IsNamed(resource, name string) bool {
	return resource == name || slices.Contains(p.Names[resource], name)
}

// PartChange is what a resource of a part refers to because of a field of a conf. Whether
// that leads to the workload is known only when all parts are there.
type PartChange struct {
	seal.ReferenceSet
	Conf  *results.Effective
	Field string // a JSON pointer
}
