package xds

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// A Translator gives the policies of one kind their effect: each function changes a
// draft by the effective conf that the kind has for it. Functions that a kind does
// not need are nil. A draft is passed to all translators in the order of their list,
// so a later one sees what earlier ones did, and filters are in that order.
//
// A function is called for each draft, with a nil conf if no item of the kind
// applies to it. A function depends on the draft and the conf alone. It keeps
// neither and does not change the conf.
//
// To add a kind, or to replace the translation of one, pass another list to
// snapshot.NewBuilder.
type Translator struct {
	Kind string

	// Cluster, Endpoints and Routes shape what is reached at a destination. The conf
	// is that of the outbound, or the default of a kind without arrays. Routes is
	// called for HTTP destinations before Route.
	Cluster   func(*Cluster, *rules.Effective)
	Endpoints func(*Endpoints, *rules.Effective)
	Routes    func(*Routes, *rules.Effective)
	// Route shapes one route. The conf is the one of the policy that made it (SPEC
	// 4.3), else the conf of the outbound.
	Route func(*Route, *rules.Effective)
	// Zones returns the zones that a conf compares with the client's zone, in
	// addition to the zones of the endpoints; nil: the zone is not asked for.
	Zones func(resource.Conf) []string
	// Tags returns the keys of the tags that Cluster, Endpoints, Routes and Route may ask
	// the client for with a conf, in any order; nil: there are none. A locator of a
	// destination with many variants has no answer for parameters whose build asks for a
	// tag that no conf declares, or for the zone if no kind has Zones (SPEC 9.4).
	Tags func(resource.Conf) []string
	// Refers reports whether a conf has backends that may be destinations which are
	// resources. Only with such a conf may a function call [Finder.Find].
	Refers func(resource.Conf) bool
	// Outbound shapes the listener of an outbound.
	Outbound func(*Outbound, *rules.Effective)
	// ByRoute says that Outbound shapes single routes of HTTP by [Outbound.RouteConfs].
	ByRoute bool
	// Inbound shapes the listener, the cluster and the routes of an inbound; then
	// Chain shapes each of its filter chains.
	Inbound func(*Inbound, InboundConf)
	Chain   func(*Chain, InboundConf)
	// Proxy adds resources that belong to no inbound or outbound. The conf is the
	// default of a kind without arrays.
	Proxy func(*Proxy, *rules.Effective)
	// Finish changes the messages of one part, with the conf of Proxy, after all
	// translators have shaped their draft.
	Finish func(*Part, *rules.Effective)
	// Required returns the fields of the conf of Proxy that must have had an effect on
	// some part of the dataplane, by [Report.Apply]; the others have none.
	Required func(*rules.Effective) []RequiredField

	// Ignored are the fields that have no effect anywhere. Each is reported as a
	// warning where it is set.
	Ignored []IgnoredField
	// IgnoredByGRPC are the fields, in addition to these, of `to` and of confs without
	// arrays that have no effect on a node that is gRPC. The field "" is the whole conf.
	IgnoredByGRPC []IgnoredField
}

// An IgnoredField is a field of a conf without effect.
type IgnoredField struct {
	Field  string // a JSON pointer, in which * is any element of a list
	Reason string // such as "Envoy writes no lines to TCP"
}

// A RequiredField is a field that has no effect, for a reason, unless it was applied.
type RequiredField struct {
	IgnoredField
	// OnPart reports that a policy for the whole mesh is meant for the dataplanes where the
	// field has an effect: the others have no warning, and the field is marked.
	OnPart bool
}

// InboundConf is what a kind has for an inbound. Both fields may be nil.
type InboundConf struct {
	*rules.InboundConfig                  // of a kind with `from` or `rules`
	Default              *rules.Effective // of a kind without arrays
	// Config is the config of the dataplane that both belong to.
	Config *rules.Config
}

// Origins returns the items that the inbound has, without the items of Default.
func (c InboundConf) Origins() (all []rules.Origin) {
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
