package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// ConfigOf returns what the policies of one kind say about a dataplane, also
// where none of them selects it: then its outbounds and routes have no conf.
func ConfigOf(view *core.View, d *resource.Dataplane, kind *resource.Kind, shadow bool) *rules.Config {
	for _, config := range view.Configs(d, core.Scope{Kind: kind.Name, Shadow: shadow}) {
		return config
	}
	var buffer match.Buffer
	var routes []*resource.Policy
	for _, name := range view.Kinds().Names() {
		if !view.Kinds().Lookup(name).IsRoute() {
			continue
		}
		for _, s := range view.Select(d, core.Scope{Kind: name, Shadow: shadow}, &buffer) {
			routes = append(routes, s.Policy)
		}
	}
	return rules.Evaluate(kind, d, match.Matched{}, routes)
}

// ForRequest returns what the policies of a kind do with a request to an
// inbound, by its index: the conf for the client's tags where `from` counts,
// else the conf of the first rule that matches; nil where there is none.
func ForRequest(config *rules.Config, d *resource.Dataplane, inbound int, r *permission.Request) *rules.Effective {
	in := &config.Inbounds[inbound]
	if in.From != nil {
		client := make(map[string]string, len(r.Tags))
		for _, tag := range r.Tags {
			client[tag.Key] = tag.Value
		}
		return in.From.Client(client)
	}
	protocol := permission.ProtocolOf(&d.Inbounds[inbound])
	for _, rule := range in.Rules {
		if permission.Matches(&rule.Match, protocol, r) {
			return rule.Effective
		}
	}
	return nil
}
