package translators

import (
	"reflect"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httplimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	networklimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/local_ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshratelimit"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

const (
	httpRateLimitFilter    = "envoy.filters.http.local_ratelimit"
	networkRateLimitFilter = "envoy.filters.network.local_ratelimit"
	rateLimitStatPrefix    = "rate_limit"
)

// rateLimits translates MeshRateLimit: filters of inbounds that count requests and
// connections. Routes have the limits of requests, so the filter chains of an inbound in
// mode Permissive count requests together. Each of them counts its own connections.
//
// A client without [capability.RouteRateLimits] has the limits of requests in its filter
// chains: an edit of them replaces the listener.
func rateLimits(c *xds.Chain, in xds.InboundConf) {
	choices, ok := requestChoices(c, in, "/local/http")
	limitConnections(c, choices)
	if !ok {
		return
	}
	add := func() []choice { return enableFilter(c, httpRateLimitFilter, 0, in, requestLimit) }
	if c.Lacks.Has(capability.RouteRateLimits) {
		add = func() []choice { return addFilter(c, httpRateLimitFilter, in, choices, requestLimit) }
	}
	for _, choice := range add() {
		if m := headersOfAnswer(choice.Effective); m != nil {
			warnHeaders(&c.Report, choice.Effective, "/local/http/onRateLimit/headers", m, meshratelimit.MaxHeaders)
		}
	}
}

// headersOfAnswer returns the headers of the answer to a limited request; nil if there are
// none.
func headersOfAnswer(e *results.Effective) *conf.HeaderModifier {
	limit := results.MustConfOf[meshratelimit.Conf](e)
	if limit == nil || limit.Local == nil || limit.Local.HTTP == nil || limit.Local.HTTP.OnRateLimit == nil {
		return nil
	}
	return limit.Local.HTTP.OnRateLimit.Headers
}

// requestLimit returns the filter of a conf; nil if it does not limit requests.
func requestLimit(e *results.Effective) proto.Message {
	limit := results.MustConfOf[meshratelimit.Conf](e)
	if limit == nil || limit.Local == nil || limit.Local.HTTP == nil {
		return nil
	}
	http := limit.Local.HTTP
	if isTrue(http.Disabled) || http.RequestRate == nil {
		return nil
	}
	always := &corev3.RuntimeFractionalPercent{DefaultValue: &typev3.FractionalPercent{Numerator: 100}}
	m := &httplimitv3.LocalRateLimit{
		StatPrefix:  rateLimitStatPrefix,
		TokenBucket: tokenBucket(http.RequestRate),
		// By default Envoy counts and limits nothing.
		FilterEnabled: always, FilterEnforced: always,
	}
	if answer := http.OnRateLimit; answer != nil {
		if answer.Status != nil && *answer.Status >= 400 { // else Envoy responds with 429, or refuses the number
			m.Status = &typev3.HttpStatus{Code: typev3.StatusCode(*answer.Status)}
		}
		if answer.Headers != nil {
			m.ResponseHeadersToAdd = firstHeaders(answer.Headers, meshratelimit.MaxHeaders)
		}
	}
	return m
}

// tokenBucket returns a bucket that holds as many tokens as a rate has events in an
// interval, and is filled once in an interval.
func tokenBucket(r *meshratelimit.Rate) *typev3.TokenBucket {
	return &typev3.TokenBucket{
		MaxTokens:     uint32(r.Num),
		TokensPerFill: wrapperspb.UInt32(uint32(r.Num)),
		FillInterval:  durationpb.New(time.Duration(r.Interval)),
	}
}

// limitConnections adds the filter that limits connections. It counts a connection
// before the handshake, so its conf is the one without conditions.
func limitConnections(c *xds.Chain, choices []choice) {
	connections := func(e *results.Effective) *meshratelimit.TCP {
		if limit := results.MustConfOf[meshratelimit.Conf](e); limit != nil && limit.Local != nil {
			return limit.Local.TCP
		}
		return nil
	}
	limit := connections(always(choices))
	for i := range choices {
		if own := connections(choices[i].Effective); own != nil && !choices[i].Empty() && !reflect.DeepEqual(own, limit) {
			c.Warn(diag.NoEffectHere, choices[i].Effective, "/local/tcp", "a connection is counted before anything is visible of it: write it for all clients, without a match")
		}
	}
	if limit == nil || isTrue(limit.Disabled) || limit.ConnectionRate == nil {
		return
	}
	c.AddNetworkFilter(networkRateLimitFilter, message.Any(&networklimitv3.LocalRateLimit{
		StatPrefix: rateLimitStatPrefix, TokenBucket: tokenBucket(limit.ConnectionRate),
	}))
}
