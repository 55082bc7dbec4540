package translators

import (
	"fmt"

	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// maxEarlyData is how many bytes of a client a proxy keeps until it is connected to
// the workload. Then the connection is not read again.
const maxEarlyData = 64 << 10

// connectAfterDecision makes a TCP chain connect to the workload after the client was
// allowed. So a denied client gets no byte of the workload (SPEC 7.5b). The RBAC filter
// decides at the first byte of the client. Limited reports that the filter denies every
// client because the permissions exceed a limit. A gRPC server rejects a TCP chain, and
// has none of its fields.
func connectAfterDecision(c *xds.Chain, in xds.InboundConf, p *permission.Permissions, limited bool) {
	if c.Client == xds.ProxylessGRPC {
		return
	}
	everyone := !limited && p.AllowsEveryClient()
	if c.Lacks.Has(capability.DelayedConnect) {
		if !everyone {
			decideInHandshake(c, in, p, limited)
		}
		return
	}
	connect := func(mode tcpv3.UpstreamConnectMode) {
		c.TCP.UpstreamConnectMode = mode
		c.TCP.MaxEarlyDataBytes = wrapperspb.UInt32(maxEarlyData)
	}
	atFirstByte, afterHandshake := tcpv3.UpstreamConnectMode_ON_DOWNSTREAM_DATA, tcpv3.UpstreamConnectMode_ON_DOWNSTREAM_TLS_HANDSHAKE
	switch serverFirst := c.Inbound.Inbound.Tags.Value(resource.ServerFirstTag) == "true"; {
	case everyone && c.Plaintext:
		// Envoy's default: it connects at once.
	case everyone:
		connect(afterHandshake)
	case !serverFirst || limited:
		connect(atFirstByte)
	case c.Plaintext:
		connect(atFirstByte)
		failServerFirst(c, in)
	default:
		h := rbac.NewHandshake(p)
		for _, r := range h.Refused {
			warnRefused(c, in, r, diag.UnseenEntry, r.Reason)
		}
		if len(h.Accept) == 0 {
			connect(atFirstByte) // no client is allowed
		} else {
			connect(afterHandshake)
			c.AcceptURIs(h.Accept)
		}
	}
}

// decideInHandshake is the decision of a chain of a client without
// [capability.DelayedConnect], which does not allow every client: its TCP proxy connects to the
// workload before any byte arrives, so the workload could send something to a client that is
// denied. The TLS handshake accepts only clients that are allowed, as for a server that speaks
// first. Without TLS, or if the handshake can accept no client, the chain leads nowhere (SPEC
// 18.3).
func decideInHandshake(c *xds.Chain, in xds.InboundConf, p *permission.Permissions, limited bool) {
	var h rbac.Handshake
	if !limited && !c.Plaintext {
		h = rbac.NewHandshake(p)
		for _, r := range h.Refused {
			warnRefused(c, in, r, diag.OlderEnvoy, capability.DelayedConnect.Lack()+", so the TLS handshake decides: it "+r.Reason)
		}
	}
	if len(h.Accept) > 0 {
		c.AcceptURIs(h.Accept)
		return
	}
	none := xds.NoCluster()
	c.AddCluster(none)
	c.TCP.ClusterSpecifier = &tcpv3.TcpProxy_Cluster{Cluster: none.Name}
	switch {
	case c.Plaintext && p.AllowsSome():
		c.WarnPlace(diag.OlderEnvoy, "every client without TLS of the mesh is denied: %s, and without TLS no decision is made before it connects", capability.DelayedConnect.Lack())
	case c.Plaintext && c.Inbound.Inbound.Tags.Value(resource.ServerFirstTag) == "true":
		failServerFirst(c, in)
	}
}

// failServerFirst reports a server that speaks first and has permissions, without TLS.
func failServerFirst(c *xds.Chain, in xds.InboundConf) {
	if c.TLS == nil && selectsInbound(in, c.Index) {
		c.Fail(diag.ServerFirstWithoutTLS, "an inbound with the tag %s: \"true\" and permissions needs TLS, so that a client is decided on before it sends a byte: "+
			"every client is denied that sends none; select the dataplane with a MeshIdentity", resource.ServerFirstTag)
	}
}

// warnRefused reports an entry or item that a handshake cannot express.
func warnRefused(c *xds.Chain, in xds.InboundConf, r rbac.Refused, code diag.Code, reason string) {
	index, field := r.Rule, fmt.Sprintf("/%s/%d", r.List, r.Index)
	if r.List == permission.From {
		index, field = r.Index, ""
	}
	c.WarnPolicy(code, policyOf(in, r.KRI), index, field, "%s", reason)
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
