package translators

import (
	"slices"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	skipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/matcher/action/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/rbac"
)

// addConditionalFilter adds an HTTP filter whose config depends on the client and the
// request: configs has that of each choice, nil for no filter. The name is the one of
// the filter that is chosen. The error is [rbac.ErrTooLarge]; then no filter is added.
func addConditionalFilter(c *xds.Chain, name string, choices []choice, configs []proto.Message) error {
	for len(configs) > 0 && configs[len(configs)-1] == nil {
		configs = configs[:len(configs)-1]
	}
	switch {
	case len(configs) == 0:
		return nil
	case choices[0].Empty():
		c.AddHTTPFilter(name, message.Any(configs[0]))
		return nil
	}
	actions := make([]*xdscorev3.TypedExtensionConfig, len(configs))
	for i, config := range configs {
		actions[i] = &xdscorev3.TypedExtensionConfig{Name: "skip", TypedConfig: message.Any(&skipv3.SkipFilter{})}
		if config != nil {
			actions[i] = &xdscorev3.TypedExtensionConfig{Name: "execute", TypedConfig: message.Any(&compositev3.ExecuteFilterAction{
				TypedConfig: &corev3.TypedExtensionConfig{Name: name, TypedConfig: message.Any(config)},
			})}
		}
	}
	filter, err := chooseAction(choices[:len(configs)], actions)
	if err != nil {
		return err
	}
	c.AddHTTPFilter(name, message.Any(filter))
	refuseEscapedSlashes(c.Inbound, choices)
	return nil
}

// chooseAction returns the composite filter that runs the action of the first choice that
// applies to a request.
func chooseAction(choices []choice, actions []*xdscorev3.TypedExtensionConfig) (*matchingv3.ExtensionWithMatcher, error) {
	list := make([]rbac.Choice, len(choices))
	for i := range choices {
		list[i] = rbac.Choice{Conditions: choices[i].Conditions, Action: actions[i]}
	}
	matcher, err := rbac.NewChoiceMatcher(list)
	if err != nil {
		return nil, err
	}
	return &matchingv3.ExtensionWithMatcher{
		ExtensionConfig: &corev3.TypedExtensionConfig{Name: "composite", TypedConfig: message.Any(&compositev3.Composite{})},
		XdsMatcher:      matcher,
	}, nil
}

// refuseEscapedSlashes makes the inbound refuse a path with an escaped slash if a choice
// compares paths.
func refuseEscapedSlashes(i *xds.Inbound, choices []choice) {
	if slices.ContainsFunc(choices, func(c choice) bool { return c.Match != nil && c.Match.Path != nil }) {
		i.RefuseEscapedSlashes = true
	}
}
