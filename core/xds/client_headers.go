package xds

import (
	"slices"
	"sync"

	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	headersv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	earlyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
)

const headersFilter = "envoy.filters.http.header_mutation"

var emptyMutation = sync.OnceValue(func() *anypb.Any { return message.Any(&headersv3.HeaderMutation{}) })

// AddClientHeaders adds the filter that writes the client's URI SANs and the server name into
// headers, for the matchers of [rbac.NewRouteMatcher]. It does nothing unless
// [Inbound.ShowClient] enables it. A chain of an inbound without TLS has no such filter, and
// further calls do nothing.
func (c *Chain) AddClientHeaders() {
	has := slices.ContainsFunc(c.http, func(f *hcmv3.HttpFilter) bool { return f.Name == headersFilter && f.Disabled })
	if c.TLS != nil && !has {
		c.http = append(c.http, &hcmv3.HttpFilter{Name: headersFilter, Disabled: true,
			ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: sharing(emptyMutation())}})
	}
}

// ShowClient enables the filter of [Chain.AddClientHeaders] in all routes of the inbound. It
// replaces what the client sent in these headers, and the workload does not get them.
func (i *Inbound) ShowClient() {
	if i.Enabled[headersFilter] == nil {
		i.enable(headersFilter, sharing(clientHeaders()))
	}
}

// HiddenHeaders returns the headers that routes remove before the workload gets a request.
func (i *Inbound) HiddenHeaders() []string {
	if i.Enabled[headersFilter] == nil && !i.hasClientHeaders() {
		return nil
	}
	return []string{rbac.PeerHeader, rbac.ServerNameHeader}
}

var clientHeaders = sync.OnceValue(func() *anypb.Any {
	return message.Any(&headersv3.HeaderMutationPerRoute{Mutations: &headersv3.Mutations{RequestMutations: clientMutations()}})
})

var earlyClientHeaders = sync.OnceValue(func() *anypb.Any {
	return message.Any(&earlyv3.HeaderMutation{Mutations: clientMutations()})
})

// clientMutations replace what a client sent in the headers that show it.
func clientMutations() (list []*mutationv3.HeaderMutation) {
	for _, h := range []struct{ name, format string }{
		{rbac.PeerHeader, "%DOWNSTREAM_PEER_URI_SAN%"},
		{rbac.ServerNameHeader, "%REQUESTED_SERVER_NAME%"},
	} {
		list = append(list,
			&mutationv3.HeaderMutation{Action: &mutationv3.HeaderMutation_Remove{Remove: h.name}},
			&mutationv3.HeaderMutation{Action: &mutationv3.HeaderMutation_Append{Append: &corev3.HeaderValueOption{
				Header:       &corev3.HeaderValue{Key: h.name, Value: h.format},
				AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
			}}})
	}
	return list
}
