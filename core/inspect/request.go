package inspect

import (
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// ForRequest returns the conf of a kind for a request to an inbound, given by
// its index, and the section of the kind that it is of: the conf for the client's
// tags if `from` applies, else that of the first rule that matches. The conf is
// nil if no item selects the request.
func ForRequest(config *rules.Config, d *resource.Dataplane, inbound int, r *request.Request) (*rules.Effective, *resource.Section) {
	in := &config.Inbounds[inbound]
	if in.From != nil {
		client := make(map[string]string, len(r.Tags))
		for _, tag := range r.Tags {
			client[tag.Key] = tag.Value
		}
		return in.From.Client(client), config.Kind.From
	}
	protocol := request.ProtocolOf(&d.Inbounds[inbound])
	for _, rule := range in.Rules {
		if request.Matches(&rule.Match, protocol, r) {
			return rule.Effective, config.Kind.Rules
		}
	}
	return nil, config.Kind.Rules
}
