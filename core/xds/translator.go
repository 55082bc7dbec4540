package xds

import (
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A Translator applies the policies of one kind: each function changes a draft by the
// kind's effective conf for it. Functions that a kind does not need are nil. Translators
// get a draft in the order of their list, and their filters are in that order. A later
// translator sees the changes of earlier ones.
//
// A function is called for each draft, with a nil conf if no item of the kind applies. Its
// result depends only on the draft and the conf. It keeps neither, and it does not change
// the conf.
//
// To add a kind, or to replace the translation of one, pass another list to
// snapshot.NewBuilder.
type Translator struct {
	Kind string

	// Cluster, Endpoints and Routes shape the resources of a destination. The conf is the
	// one for the outbound, or the default of a kind without arrays. Routes is called for
	// HTTP destinations, before Route.
	Cluster   func(*Cluster, *results.Effective)
	Endpoints func(*Endpoints, *results.Effective)
	Routes    func(*Routes, *results.Effective)
	// Route shapes one route. The conf is the one for the policy that made the route (SPEC
	// 4.3), otherwise the one for the outbound.
	Route func(*Route, *results.Effective)
	// Zones returns the zones that a conf compares with the client's zone, in addition to
	// the zones of the endpoints. It is nil if the kind never asks for the zone.
	Zones func(resource.Conf) []string
	// Tags returns, in any order, the keys of the client's tags that Cluster, Endpoints,
	// Routes and Route may ask for with a conf. It is nil if the kind asks for none. A
	// destination's locator has no answer if the build of a variant reads a tag that no
	// conf declares (SPEC 9.4). This is also so if it reads the zone and no kind has Zones.
	Tags func(resource.Conf) []string
	// Refers reports whether a backend of a conf may be a resource, such as a MeshService.
	// Only with such a conf may a function call [Finder.Find].
	Refers func(resource.Conf) bool
	// Outbound shapes the listener of an outbound.
	Outbound func(*Outbound, *results.Effective)
	// ByRoute reports that Outbound reads [Outbound.RouteConfs] to shape single HTTP routes.
	ByRoute bool
	// Inbound shapes the listener, the cluster and the routes of an inbound. Then Chain
	// shapes each of its filter chains.
	Inbound func(*Inbound, InboundConf)
	Chain   func(*Chain, InboundConf)
	// Proxy adds resources that belong to no inbound or outbound. The conf is the
	// default of a kind without arrays. For a kind with `to` it is the conf of the items for
	// every outbound. It is nil if connections of the workload are not redirected to the proxy.
	Proxy func(*Proxy, *results.Effective)
	// Finish changes the messages of one part, with the conf of Proxy, after all
	// translators have shaped their draft.
	Finish func(*Part, *results.Effective)
	// Required returns the fields of the conf of Proxy that should have an effect on some
	// part of the dataplane. A field that [Report.Apply] was not called with has none.
	Required func(*results.Effective) []RequiredField

	// Asks are the capabilities that Outbound and Finish ask their draft for: the draft of
	// an outbound is built again for clients that lack them (SPEC 18.2).
	Asks capability.Set

	// Ignored are the fields that have no effect anywhere. A warning reports each place
	// where one is set.
	Ignored []IgnoredField
	// IgnoredByGRPC are further fields, of `to` and of confs without arrays, that have no
	// effect on a gRPC node. The field "" is the whole conf.
	IgnoredByGRPC []IgnoredField
}

// An IgnoredField is a field of a conf that has no effect.
type IgnoredField struct {
	Field  string // a JSON pointer; * is any element of a list
	Reason string // such as "Envoy writes no lines to TCP"
}

// A RequiredField is a field that has no effect, for the given reason, unless it was
// applied.
type RequiredField struct {
	IgnoredField
	// OnPart reports that a policy for the whole mesh is meant for the dataplanes where the
	// field has an effect. The other dataplanes get no warning; the field is only marked.
	OnPart bool
}

// InboundConf is the conf of a kind for an inbound. InboundConfig and Default may be nil.
type InboundConf struct {
	*results.InboundConfig                    // of a kind with `from` or `rules`
	Default                *results.Effective // of a kind without arrays
	// Config is the config of the dataplane, which both are from.
	Config *results.Config
}

// Origins returns the items that apply to the inbound, without the items of Default.
func (c InboundConf) Origins() (all []results.Origin) {
	if c.InboundConfig == nil {
		return nil
	}
	for i := range c.Rules {
		all = append(all, c.Rules[i].Origins...)
	}
	for i := range c.Unmerged {
		all = append(all, c.Unmerged[i].Origin)
	}
	if c.From != nil {
		all = append(all, c.From.Origins()...)
	}
	return all
}
