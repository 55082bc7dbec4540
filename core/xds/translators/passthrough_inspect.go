package translators

import (
	"slices"
	"time"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	httpinspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/http_inspector/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
)

// inspectionTimeout is how long a listener waits for the first bytes of a client to
// find out its protocol.
const inspectionTimeout = time.Second

func isMatched(passthrough *meshpassthrough.Conf) bool {
	return passthrough != nil && valueOr(passthrough.PassthroughMode, meshpassthrough.None) == meshpassthrough.Matched
}

// inspect makes a listener find out the protocol of connections to those ports whose
// matches ask for one. A client that waits for the server to speak first sends nothing to
// inspect: it is delayed by the timeout.
func inspect(l *listenerv3.Listener, passthrough *meshpassthrough.Conf) {
	if !isMatched(passthrough) {
		return
	}
	tls := func(m *meshpassthrough.Match) bool { return m.Speaks() == meshpassthrough.TLS }
	http := func(m *meshpassthrough.Match) bool { return m.Speaks().IsHTTP() }
	for _, inspector := range []struct {
		filter *listenerv3.ListenerFilter
		asks   func(*meshpassthrough.Match) bool
	}{
		{message.TLSInspector(), tls},
		{message.ListenerFilter("envoy.filters.listener.http_inspector", &httpinspectorv3.HttpInspector{}), http},
	} {
		disabled, needed := disabledFor(passthrough.AppendMatch, inspector.asks)
		if !needed {
			continue
		}
		inspector.filter.FilterDisabled = disabled
		l.ListenerFilters = append(l.ListenerFilters, inspector.filter)
		l.ListenerFiltersTimeout = durationpb.New(inspectionTimeout)
		l.ContinueOnListenerFiltersTimeout = true
	}
}

// disabledFor returns the ports at which no match asks for an inspector, nil if there are
// none, and whether it is needed at all.
func disabledFor(matches []meshpassthrough.Match, asks func(*meshpassthrough.Match) bool) (*listenerv3.ListenerFilterChainMatchPredicate, bool) {
	var with []uint32 // ports that matches have
	everywhere := false
	for _, port := range distinct(matches, portOf, 0) {
		var all []meshpassthrough.Match
		for _, m := range matches {
			if portOf(&m) == 0 || portOf(&m) == port {
				all = append(all, m)
			}
		}
		ask := slices.ContainsFunc(all, func(m meshpassthrough.Match) bool { return asks(&m) })
		switch {
		case port == 0:
			everywhere = ask
		case ask:
			with = append(with, port)
		}
	}
	switch {
	case everywhere: // and at each port that a match has
		return nil, true
	case len(with) == 0:
		return nil, false
	}
	return &listenerv3.ListenerFilterChainMatchPredicate{Rule: &listenerv3.ListenerFilterChainMatchPredicate_NotMatch{
		NotMatch: atPorts(with),
	}}, true
}

// atPorts returns the condition that a connection is to one of the ports.
func atPorts(ports []uint32) *listenerv3.ListenerFilterChainMatchPredicate {
	var any []*listenerv3.ListenerFilterChainMatchPredicate
	slices.Sort(ports)
	for _, port := range ports {
		any = append(any, &listenerv3.ListenerFilterChainMatchPredicate{Rule: &listenerv3.ListenerFilterChainMatchPredicate_DestinationPortRange{
			DestinationPortRange: &typev3.Int32Range{Start: int32(port), End: int32(port) + 1},
		}})
	}
	if len(any) == 1 {
		return any[0]
	}
	return &listenerv3.ListenerFilterChainMatchPredicate{Rule: &listenerv3.ListenerFilterChainMatchPredicate_OrMatch{
		OrMatch: &listenerv3.ListenerFilterChainMatchPredicate_MatchSet{Rules: any},
	}}
}
