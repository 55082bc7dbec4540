package translators

import (
	"strconv"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	setmetadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_metadata/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/xds"
)

// An access log has no condition on identities that could be trusted, so a filter notes
// in the dynamic metadata which choice applies: the number of the choice.

// noteRequest adds a filter that notes the choice for each request. It returns the
// condition of the logs of a choice. A request that the connection manager refuses
// comes to no filter; it is logged by the choice without conditions.
func noteRequest(c *xds.Chain, choices []choice) (func(int) *accesslogv3.AccessLogFilter, error) {
	const namespace, key = "meshmatch.access_log", "choice"
	configs := make([]proto.Message, len(choices))
	for i := range choices {
		configs[i] = &setmetadatav3.Config{Metadata: []*setmetadatav3.Metadata{{
			MetadataNamespace: namespace, AllowOverwrite: true,
			Value: &structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewStringValue(strconv.Itoa(i))}},
		}}}
	}
	err := addConditionalFilter(c, "envoy.filters.http.set_metadata", choices, configs)
	return func(i int) *accesslogv3.AccessLogFilter {
		return metadataIs(namespace, key, strconv.Itoa(i), choices[i].Empty())
	}, err
}

// noteConnection does the same for connections: by the shadow decision of an RBAC
// filter that allows all of them. A connection that ends before the client's first
// byte is logged by the choice without conditions.
func noteConnection(c *xds.Chain, choices []choice) (func(int) *accesslogv3.AccessLogFilter, error) {
	const prefix = "access_log_"
	list := make([]rbac.Choice, len(choices))
	for i, choice := range choices {
		list[i] = rbac.Choice{Conditions: choice.Conditions, Action: &xdscorev3.TypedExtensionConfig{
			Name:        "envoy.filters.rbac.action",
			TypedConfig: message.Any(&rbacconfigv3.Action{Name: strconv.Itoa(i), Action: rbacconfigv3.RBAC_ALLOW}),
		}}
	}
	matcher, err := rbac.NewChoiceMatcher(list)
	if err != nil {
		return nil, err
	}
	c.AddNetworkFilter(rbac.NetworkFilterName, message.Any(&networkrbacv3.RBAC{
		StatPrefix: "access_log.", ShadowRulesStatPrefix: prefix, ShadowMatcher: matcher,
	}))
	return func(i int) *accesslogv3.AccessLogFilter {
		return metadataIs(rbac.NetworkFilterName, prefix+"shadow_effective_policy_id", strconv.Itoa(i), choices[i].Empty())
	}, nil
}

// metadataIs returns the condition that a key of the dynamic metadata has a value, or
// is absent, if that is permitted.
func metadataIs(namespace, key, value string, orAbsent bool) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_MetadataFilter{
		MetadataFilter: &accesslogv3.MetadataFilter{
			Matcher: &matcherv3.MetadataMatcher{
				Filter: namespace,
				Path:   []*matcherv3.MetadataMatcher_PathSegment{{Segment: &matcherv3.MetadataMatcher_PathSegment_Key{Key: key}}},
				Value:  &matcherv3.ValueMatcher{MatchPattern: &matcherv3.ValueMatcher_StringMatch{StringMatch: message.Exactly(value)}},
			},
			MatchIfKeyNotFound: wrapperspb.Bool(orAbsent),
		},
	}}
}
