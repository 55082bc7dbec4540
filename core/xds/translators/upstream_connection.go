package translators

import (
	"fmt"

	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// maxEarlyData is how many bytes of a client a proxy keeps until it is connected to
// the workload. Then the connection is not read again.
const maxEarlyData = 64 << 10

// connectAfterDecision makes a TCP chain connect to the workload after the client was
// allowed, so that a client that is denied gets no byte of the workload (SPEC 7.5b). The
// RBAC filter decides at the first byte of the client. Limited reports that the filter
// denies every client because the permissions exceed a limit. A gRPC server rejects a TCP
// chain, and has none of its fields.
func connectAfterDecision(c *xds.Chain, in xds.InboundConf, p *permission.Permissions, limited bool) {
	if c.Client == xds.ProxylessGRPC {
		return
	}
	connect := func(mode tcpv3.UpstreamConnectMode) {
		c.TCP.UpstreamConnectMode = mode
		c.TCP.MaxEarlyDataBytes = wrapperspb.UInt32(maxEarlyData)
	}
	atFirstByte, afterHandshake := tcpv3.UpstreamConnectMode_ON_DOWNSTREAM_DATA, tcpv3.UpstreamConnectMode_ON_DOWNSTREAM_TLS_HANDSHAKE
	everyone := !limited && p.AllowsEveryClient()
	switch serverFirst := c.Inbound.Inbound.Tags.Value(resource.ServerFirstTag) == "true"; {
	case everyone && c.Plaintext:
		// Envoy's default: it connects at once.
	case everyone:
		connect(afterHandshake)
	case !serverFirst || limited:
		connect(atFirstByte)
	case c.Plaintext:
		connect(atFirstByte)
		if c.TLS == nil && selectsInbound(in, c.Index) {
			c.Fail(diag.ServerFirstWithoutTLS, "an inbound with the tag %s: \"true\" and permissions needs TLS, so that a client is decided on before it sends a byte: "+
				"every client is denied that sends none; select the dataplane with a MeshIdentity", resource.ServerFirstTag)
		}
	default:
		h := rbac.NewHandshake(p)
		for _, r := range h.Refused {
			index, field := r.Rule, fmt.Sprintf("/%s/%d", r.List, r.Index)
			if r.List == permission.From {
				index, field = r.Index, ""
			}
			c.WarnPolicy(diag.UnseenEntry, policyOf(in, r.KRI), index, field, "%s", r.Reason)
		}
		if len(h.Accept) == 0 {
			connect(atFirstByte) // no client is allowed
		} else {
			connect(afterHandshake)
			c.AcceptURIs(h.Accept)
		}
	}
}

// selectsInbound reports whether a policy selects the inbound.
func selectsInbound(in xds.InboundConf, index int) bool {
	if in.Config == nil {
		return false
	}
	for _, m := range in.Config.Matched.All() {
		if m.Inbounds.Has(index) {
			return true
		}
	}
	return false
}

func policyOf(in xds.InboundConf, kri string) *resource.Policy {
	for _, m := range in.Config.Matched.All() {
		if m.Policy.KRI() == kri {
			return m.Policy
		}
	}
	return nil
}
