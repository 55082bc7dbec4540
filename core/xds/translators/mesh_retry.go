package translators

import (
	"slices"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hostsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/host/previous_hosts/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshRetry translates MeshRetry: the retry policies of routes, and the attempts to
// connect for TCP. The parts for other protocols than the destination's are
// warnings, unless the item is for the whole mesh.
func meshRetry() xds.Translator {
	return xds.Translator{
		Kind:      "MeshRetry",
		Endpoints: with(retryTags),
		Route:     with(routeRetries),
		Outbound:  with(connectAttempts),

		IgnoredByGRPC: slices.Concat(
			ignoredByGRPC("gRPC retries by the part grpc", "/http"),
			ignoredByGRPC("gRPC retries within the time of the call, after a back-off", "/grpc/perTryTimeout", "/grpc/rateLimitedBackOff"),
		),
	}
}

func connectAttempts(o *xds.Outbound, e *results.Effective, retry *meshretry.Conf) {
	if o.TCP == nil {
		return
	}
	if retry.TCP != nil {
		o.TCP.MaxConnectAttempts = number(retry.TCP.MaxConnectAttempt)
	}
	o.WarnHTTPFields(e, "the protocol of the service is TCP")
}

func routeRetries(r *xds.Route, e *results.Effective, retry *meshretry.Conf) {
	used, other := "/http", "/grpc"
	if r.Client == xds.ProxylessGRPC || r.Protocol == message.GRPC {
		used, other = other, used
	}
	r.WarnProtocol(e, "/tcp", "the protocol of the service is %s", r.Protocol)
	if r.Client != xds.ProxylessGRPC { // else it is ignored by gRPC
		r.WarnProtocol(e, other, "the protocol of the service is %s", r.Protocol)
	}
	switch {
	case r.Action() == nil:
		r.WarnRoute(e, used, selfAnswered)
	case used == "/grpc" && retry.GRPC != nil:
		retryCalls(r, e, retry.GRPC)
	case used == "/http" && retry.HTTP != nil:
		retryRequests(r, e, retry.HTTP)
	}
}

// selfAnswered is why a conf for requests has no effect on a route without clusters.
const selfAnswered = "the proxy answers the requests of the route by itself"

// retryCalls sets the retries of gRPC calls.
func retryCalls(r *xds.Route, e *results.Effective, c *meshretry.GRPC) {
	if p := retryPolicy(r, e, "/grpc", retryConf{c.NumRetries, c.PerTryTimeout, c.BackOff, c.RateLimitedBackOff}); p != nil {
		p.RetryOn = callCauses(c.RetryOn)
		r.Action().RetryPolicy = p
	}
}

// retryRequests sets the retries of HTTP requests. If only requests with some methods may
// be retried, those are a case of the route.
func retryRequests(r *xds.Route, e *results.Effective, c *meshretry.HTTP) {
	p := retryPolicy(r, e, "/http", retryConf{c.NumRetries, c.PerTryTimeout, c.BackOff, c.RateLimitedBackOff})
	if p == nil {
		return
	}
	causes := requestCauses(c.RetryOn, len(c.RetriableResponseHeaders) > 0)
	p.RetryOn, p.RetriableStatusCodes = causes.words, causes.statuses
	for i := range c.RetriableResponseHeaders {
		p.RetriableHeaders = append(p.RetriableHeaders, headerMatcher(&c.RetriableResponseHeaders[i]))
	}
	selectHosts(p, c.HostSelection)
	if c.HostSelectionMaxAttempts != nil {
		p.HostSelectionRetryMaxAttempts = *c.HostSelectionMaxAttempts
		if len(p.RetryHostPredicate) == 0 {
			r.Warn(diag.NoEffectHere, e, "/http/hostSelectionMaxAttempts", "there is no hostSelection that rejects a host")
		}
	}

	for i := range c.RetriableRequestHeaders { // Envoy asks for any of them
		p.RetriableRequestHeaders = append(p.RetriableRequestHeaders, headerMatcher(&c.RetriableRequestHeaders[i]))
	}
	if len(causes.methods) == 0 {
		r.Action().RetryPolicy = p
		return
	}
	r.AddCase([]*routev3.HeaderMatcher{methodMatcher(causes.methods...)}, func(m *routev3.Route) { m.GetRoute().RetryPolicy = proto.CloneOf(p) })
}

// retryConf is what the retries of all protocols have.
type retryConf struct {
	numRetries    *uint32
	perTryTimeout *conf.Duration
	backOff       *meshretry.BackOff
	rateLimited   *meshretry.RateLimitedBackOff
}

// retryPolicy returns a policy without the causes of retries; nil if retries are switched
// off, as gRPC refuses a policy for none. Field is the JSON pointer of the conf.
func retryPolicy(r *xds.Route, e *results.Effective, field string, c retryConf) *routev3.RetryPolicy {
	if valueOr(c.numRetries, 1) == 0 {
		return nil
	}
	p := &routev3.RetryPolicy{NumRetries: number(c.numRetries)}
	setLimit(&p.PerTryTimeout, c.perTryTimeout)
	p.RetryBackOff = backOff(r, e, field+"/backOff", c.backOff)
	if c.rateLimited == nil {
		return p
	}
	if len(c.rateLimited.ResetHeaders) == 0 {
		r.Warn(diag.NoEffectHere, e, field+"/rateLimitedBackOff", "there are no resetHeaders")
		return p
	}
	p.RateLimitedRetryBackOff = &routev3.RetryPolicy_RateLimitedRetryBackOff{}
	setDuration(&p.RateLimitedRetryBackOff.MaxInterval, c.rateLimited.MaxInterval)
	for _, h := range c.rateLimited.ResetHeaders {
		format := routev3.RetryPolicy_SECONDS
		if h.Format == meshretry.UnixTimestamp {
			format = routev3.RetryPolicy_UNIX_TIMESTAMP
		}
		p.RateLimitedRetryBackOff.ResetHeaders = append(p.RateLimitedRetryBackOff.ResetHeaders,
			&routev3.RetryPolicy_ResetHeader{Name: string(h.Name), Format: format})
	}
	return p
}

// baseInterval is the first back-off where only the longest one is set.
const baseInterval = 25 * time.Millisecond

// backOff returns the time between attempts; nil if it is not set. Items of several
// policies may set a longest interval below the first one, which Envoy refuses.
func backOff(r *xds.Route, e *results.Effective, field string, b *meshretry.BackOff) *routev3.RetryPolicy_RetryBackOff {
	if b == nil || b.BaseInterval == nil && b.MaxInterval == nil {
		return nil
	}
	m := &routev3.RetryPolicy_RetryBackOff{BaseInterval: durationpb.New(baseInterval)}
	setDuration(&m.BaseInterval, b.BaseInterval)
	setDuration(&m.MaxInterval, b.MaxInterval)
	if m.MaxInterval != nil && m.MaxInterval.AsDuration() < m.BaseInterval.AsDuration() {
		if b.BaseInterval != nil {
			r.Warn(diag.ContradictingValues, e, field+"/baseInterval", "it is longer than maxInterval (%s), which applies", b.MaxInterval)
		}
		m.BaseInterval = m.MaxInterval
	}
	return m
}

// selectHosts sets which hosts a retry skips.
func selectHosts(p *routev3.RetryPolicy, selection meshretry.HostSelection) {
	for _, s := range selection {
		switch s.Predicate {
		case meshretry.OmitPreviousHosts:
			p.RetryHostPredicate = append(p.RetryHostPredicate, hostPredicate("envoy.retry_host_predicates.previous_hosts", &hostsv3.PreviousHostsPredicate{}))
		case meshretry.OmitHostsWithTags:
			p.RetryHostPredicate = append(p.RetryHostPredicate, hostsWithTags(s.Tags))
		case meshretry.OmitPreviousPriorities:
			p.RetryPriority = previousPriorities(s.UpdateFrequency)
		}
	}
}

// retryTags makes the tags visible by which retries skip hosts.
func retryTags(d *xds.Endpoints, e *results.Effective, retry *meshretry.Conf) {
	if retry.HTTP == nil {
		return
	}
	for _, s := range retry.HTTP.HostSelection {
		for key := range s.Tags {
			d.ShowTags(key)
		}
	}
}
