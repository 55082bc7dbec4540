package xds

import (
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds/seal"
)

// Origin is what a part of a snapshot belongs to, as policies of kind MeshProxyPatch
// name it.
type Origin string

// The origins. Parts of the proxy as a whole have the origin of their resource.
const (
	InboundOrigin     Origin = "inbound"
	OutboundOrigin    Origin = "outbound"
	PrometheusOrigin  Origin = "prometheus"
	PassthroughOrigin Origin = "passthrough"
	CollectorOrigin   Origin = "collector" // clusters of collectors of telemetry
)

// A Part is one or a few finished messages of a snapshot, before they are marshalled.
type Part struct {
	Report
	Origin Origin
	// Tags are the tags of the inbound or outbound; nil for other origins.
	Tags resource.Tags
	// Messages are clusters, load assignments, listeners or route configurations. A
	// translator may change, remove or add messages.
	Messages []proto.Message

	// Sealed is the seal of the inbound that the part is; nil if no change of the part
	// weakens permissions by itself.
	Sealed *seal.Inbound
	// Changes are what patches make the resources of the part refer to.
	Changes []PartChange
}

// PartChange is what a field of a conf makes a resource of a part refer to. Whether that
// leads to the workload is known when all parts are there.
type PartChange struct {
	seal.Change
	Conf  *rules.Effective
	Field string // a JSON pointer
}
