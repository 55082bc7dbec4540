package snapshot

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The resources of a node that is gRPC instead of Envoy (SPEC 11.4). They are all that
// gRPC can use, and it rejects none of them:
//
//   - for each HTTP destination the listener that a client asks for, with its routes,
//     clusters and endpoints;
//   - for each HTTP inbound the listener that a server asks for, with its routes.
//
// Listeners of outbounds, other listeners, clusters of workloads and of collectors, and
// secrets are left out: gRPC does not ask for them. What gRPC has in another form, or
// not at all, each translator decides for its kind; see [xds.Cluster].

// addOutboundOfGRPC adds what a gRPC client needs of an outbound.
func (sb *snapshotBuilder) addOutboundOfGRPC(o *outbound, set *endpointSet) {
	protocol := spokenBetween(o.destination.Tags, set.facts).protocol
	switch {
	case sb.reached[o.destination]:
	case !protocol.IsHTTP():
		sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.NotInGRPC, Place: o.destination.name, Message: fmt.Sprintf(
			"gRPC cannot resolve it: its protocol is %s; set the tag %s: grpc of the outbound, or the protocol of its endpoints", protocol, resource.ProtocolTag)})
	default:
		sb.addDestination(o, set)
	}
}

// messagesOfGRPC returns the messages of an inbound of a gRPC server: its listener, once
// more by the name that the template makes of its address, and the routes.
func messagesOfGRPC(i *xds.Inbound, routes *routev3.RouteConfiguration) []proto.Message {
	withoutForwarding(routes.VirtualHosts[0].Routes)
	address := i.Listener.Address.GetSocketAddress()
	named := proto.CloneOf(i.Listener)
	named.Name = strings.Replace(message.GRPCServerTemplate, "%s", net.JoinHostPort(address.Address, strconv.Itoa(int(address.GetPortValue()))), 1)
	return []proto.Message{i.Listener, named, routes}
}

// withoutForwarding makes routes into routes of a gRPC server, which handles the calls of a
// route itself, and refuses them if the route has a cluster.
func withoutForwarding(list []*routev3.Route) {
	for _, r := range list {
		if r.GetRoute() != nil {
			r.Action = &routev3.Route_NonForwardingAction{NonForwardingAction: &routev3.NonForwardingAction{}}
		}
	}
}

// warnKindsWithoutGRPC reports the confs of kinds that shape nothing of what gRPC gets of
// an outbound or of the proxy.
func (sb *snapshotBuilder) warnKindsWithoutGRPC() {
	for _, t := range sb.translators {
		config := sb.confs.ofKind(t.Kind)
		if config == nil || t.Cluster != nil || slices.Contains(sb.shape.routes, t) {
			continue
		}
		sb.WarnIgnoredByGRPC(t, config.Default)
		for i := range config.Outbounds {
			sb.WarnIgnoredByGRPC(t, config.Outbounds[i].Effective)
		}
	}
}
