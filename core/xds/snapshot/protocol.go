package snapshot

import (
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// inboundProtocol returns the protocol of an inbound (SPEC 1.3).
func inboundProtocol(i *resource.Inbound) message.Protocol {
	if i.Protocol != "" {
		return message.ProtocolOf(i.Protocol)
	}
	return message.ProtocolOf(i.Tags.Value(resource.ProtocolTag))
}
