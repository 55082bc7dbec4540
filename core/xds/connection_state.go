package xds

import (
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	statev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	networkstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
)

// The keys of the filter state that recordConnection sets. No request can change it.
const (
	PeerKey       = "meshmatch.peer" // the URI SANs of the client, joined by commas
	ServerNameKey = "meshmatch.sni"  // in lower case
)

// connectionStateFilter is a name, not a type. It is short because each listener has it.
const connectionStateFilter = "client"

// recordConnection is the filter that makes the client's URI SANs and the server name
// available to routes: their matches have no input other than the request and the filter
// state. Each HTTP chain with TLS has it, so that a route that begins to ask for them changes
// no listener (SPEC 11.8).
var recordConnection = sync.OnceValue(func() *anypb.Any {
	value := func(key, format string) *statev3.FilterStateValue {
		return &statev3.FilterStateValue{
			Key:        &statev3.FilterStateValue_ObjectKey{ObjectKey: key},
			FactoryKey: "envoy.string",
			Value: &statev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
				Format:          &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: message.Inline(format)},
				OmitEmptyValues: true,
			}},
		}
	}
	return message.Any(&networkstatev3.Config{OnDownstreamTlsHandshake: []*statev3.FilterStateValue{
		value(PeerKey, "%DOWNSTREAM_PEER_URI_SAN%"),
		value(ServerNameKey, "%REQUESTED_SERVER_NAME%"),
	}})
})

// RecordConnection shows the client of an HTTP inbound with TLS to its routes. Package snapshot
// calls it for each chain of an Envoy, before translators add filters.
//
// A client without [capability.HandshakeState] has headers instead, which are written before
// the route is chosen. What the client sent in them is removed, even on a chain for plain
// text, because the chains of an inbound share the routes.
func (c *Chain) RecordConnection() {
	switch {
	case c.Manager == nil || c.TLS == nil:
	case c.hasClientHeaders():
		c.Manager.EarlyHeaderMutationExtensions = append(c.Manager.EarlyHeaderMutationExtensions, &corev3.TypedExtensionConfig{
			Name: "envoy.http.early_header_mutation.header_mutation", TypedConfig: sharing(earlyClientHeaders()),
		})
	case !c.Plaintext:
		c.AddNetworkFilter(connectionStateFilter, sharing(recordConnection()))
	}
}

// hasClientHeaders reports whether routes see the client in headers of each request.
func (i *Inbound) hasClientHeaders() bool {
	return i.Client == Envoy && i.TLS != nil && i.Protocol.IsHTTP() && i.Lacks.Has(capability.HandshakeState)
}

// PeerMatch adds the condition to a match of a route that an expression matches the URI SANs of
// the client, joined by commas.
func (i *Inbound) PeerMatch(m *routev3.RouteMatch, expression string) {
	i.clientMatch(m, PeerKey, rbac.PeerHeader, &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: message.Regex(expression)},
	})
}

// ServerNameMatch adds the condition to a match of a route that the client asked for a server
// name.
func (i *Inbound) ServerNameMatch(m *routev3.RouteMatch, name string) {
	i.clientMatch(m, ServerNameKey, rbac.ServerNameHeader, message.Exactly(strings.ToLower(name)))
}

func (i *Inbound) clientMatch(m *routev3.RouteMatch, key, header string, value *matcherv3.StringMatcher) {
	if i.hasClientHeaders() {
		m.Headers = append(m.Headers, &routev3.HeaderMatcher{
			Name: header, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: value},
		})
		return
	}
	m.FilterState = append(m.FilterState, &matcherv3.FilterStateMatcher{
		Key: key, Matcher: &matcherv3.FilterStateMatcher_StringMatch{StringMatch: value},
	})
}
