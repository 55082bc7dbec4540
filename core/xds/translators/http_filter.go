package translators

import (
	"slices"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	skipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/matcher/action/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// addConditionalFilter adds an HTTP filter to a chain. The config of the filter depends on
// the client and the request: configs is parallel to choices, which is not empty. The error
// is [rbac.ErrTooLarge]; then no filter is added.
func addConditionalFilter(c *xds.Chain, name string, choices []choice, configs []proto.Message) error {
	matcher, err := rbac.NewChoiceMatcher(filterChoices(name, choices, configs))
	if err != nil {
		return err
	}
	c.AddHTTPFilter(name, message.Any(message.Composite(matcher)))
	refuseEscapedSlashes(c.Inbound, choices)
	return nil
}

// routeFilterKey is what a filter of the routes of an inbound depends on: equal inbounds of
// all dataplanes have one.
type routeFilterKey struct {
	name  string // canonical
	n     int    // of several filters with this name
	confs *results.InboundConfig
	sees  xds.Visibility
}

// routeFilter is what the routes of an inbound have for a filter, and the choices that it
// depends on.
type routeFilter struct {
	config  *anypb.Any // nil: they do not enable it
	choices []choice
	err     error // [rbac.ErrTooLarge]
}

// AddHTTPFilter adds a filter of HTTP requests to a filter chain of an inbound. It is for
// [xds.Translator.Chain] of a kind with `from` or `rules`. Call it once for a canonical name,
// such as "envoy.filters.http.buffer", even if the inbound has no conf. A request gets the
// config of the first conf whose conditions on the client and the request hold. Config returns
// the config of a conf, nil for none. It depends on the conf alone, because inbounds share its
// result.
//
// The config is in the routes of the inbound, so an edit of the conf changes no listener (SPEC
// 11.8). TCP inbounds and gRPC servers have no such filter, which is a warning for each conf.
// Rules and items that never apply, and a result that exceeds a limit, are warnings too.
func AddHTTPFilter(c *xds.Chain, canonical string, in xds.InboundConf, config func(*results.Effective) proto.Message) {
	if _, ok := requestChoices(c, in, ""); ok {
		enableFilter(c, canonical, 0, in, config)
	}
}

// enableFilter adds a filter of the given canonical name to a chain, the n-th of this name, as
// [AddHTTPFilter] does. It returns the choices whose configs the routes have; none if they
// exceed a limit, which is a warning.
func enableFilter(c *xds.Chain, canonical string, n int, in xds.InboundConf, config func(*results.Effective) proto.Message) []choice {
	c.AddClientHeaders()
	name := c.AddDisabled(canonical)
	if in.InboundConfig == nil {
		return nil
	}
	key := routeFilterKey{canonical, n, in.InboundConfig, c.Inbound.Visibility()}
	f := memo.Once(c.Memo, key, func() *routeFilter { return newRouteFilter(canonical, routeChoices(c, in), config) })
	if f.config == nil {
		warnLimit(c.Inbound, in, f.err)
		return nil
	}
	c.Enable(name, f.config)
	if slices.ContainsFunc(f.choices, func(c choice) bool { return c.AsksForClient() }) {
		c.ShowClient()
	}
	refuseEscapedSlashes(c.Inbound, f.choices)
	return f.choices
}

// newRouteFilter returns the filter of choices.
func newRouteFilter(canonical string, choices []choice, config func(*results.Effective) proto.Message) *routeFilter {
	choices, configs := withConfigs(choices, config)
	if len(choices) == 0 {
		return &routeFilter{}
	}
	matcher, err := rbac.NewRouteMatcher(filterChoices(canonical, choices, configs))
	if err != nil {
		return &routeFilter{err: err}
	}
	return &routeFilter{config: xds.RouteFilter(matcher), choices: choices}
}

// withConfigs returns the choices with their configs, without those at the end for which
// there is no config.
func withConfigs(choices []choice, config func(*results.Effective) proto.Message) ([]choice, []proto.Message) {
	configs, n := make([]proto.Message, len(choices)), 0
	for i, choice := range choices {
		if configs[i] = config(choice.Effective); configs[i] != nil {
			n = i + 1
		}
	}
	return choices[:n], configs[:n]
}

// addFilter is enableFilter for a client whose routes cannot have the filter: it is in the
// filter chain, with the choices that the chain sees.
func addFilter(c *xds.Chain, canonical string, in xds.InboundConf, choices []choice, config func(*results.Effective) proto.Message) []choice {
	choices, configs := withConfigs(choices, config)
	if len(choices) == 0 {
		return nil
	}
	if err := addConditionalFilter(c, canonical, choices, configs); err != nil {
		warnLimit(c.Inbound, in, err)
		return nil
	}
	return choices
}

// routeChoices returns the choices of the routes of an inbound, which its filter chains
// share; nil if they exceed a limit, which is a warning of [visibleChoices]. A client in
// plain text has no identity, so no choice that asks for one applies to it.
func routeChoices(c *xds.Chain, in xds.InboundConf) []choice {
	choices, _ := choicesOf(c.Inbound, in, c.Inbound.Visibility())
	return choices
}

// filterChoices returns the choices with their filters: each has the given name and the
// config of its choice; a nil config is no filter.
func filterChoices(name string, choices []choice, configs []proto.Message) []rbac.Choice {
	list := make([]rbac.Choice, len(choices))
	for i, config := range configs {
		action := &xdscorev3.TypedExtensionConfig{Name: "skip", TypedConfig: message.Any(&skipv3.SkipFilter{})}
		if config != nil {
			action = &xdscorev3.TypedExtensionConfig{Name: "execute", TypedConfig: message.Any(&compositev3.ExecuteFilterAction{
				TypedConfig: &corev3.TypedExtensionConfig{Name: name, TypedConfig: message.Any(config)},
			})}
		}
		list[i] = rbac.Choice{Conditions: choices[i].Conditions, Action: action}
	}
	return list
}

// refuseEscapedSlashes makes the inbound refuse a path with an escaped slash if a choice
// compares paths.
func refuseEscapedSlashes(i *xds.Inbound, choices []choice) {
	if slices.ContainsFunc(choices, func(c choice) bool { return c.Match != nil && c.Match.Path != nil }) {
		i.RefuseEscapedSlashes = true
	}
}
