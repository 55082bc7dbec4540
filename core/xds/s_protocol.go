package xds

import (
	"github.com/meshmatch/meshmatch/core/resource"
)

// inboundProtocol returns the protocol of an inbound (SPEC 1.3).
func inboundProtocol(i *resource.Inbound) Protocol {
	if i.Protocol != "" {
		return protocolOf(i.Protocol)
	}
	return protocolOf(i.Tags.Value(resource.ProtocolTag))
}
