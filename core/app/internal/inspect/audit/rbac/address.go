package rbac

import (
	"net/netip"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
)

// The input that is the address of the client, and the matcher that compares it with ranges.
const (
	sourceInput = "envoy.extensions.matching.common_inputs.network.v3.SourceIPInput"
	ipMatcher   = "envoy.extensions.matching.input_matchers.ip.v3.Ip"
)

// knownAddress returns the address of the client, if the question is about one. Some conditions
// are about an address that a header may give.
func (b *builder) knownAddress(byHeader bool) (netip.Addr, bool) {
	at := b.connection.Address.Unmap()
	return at, at.IsValid() && !(byHeader && b.http && b.connection.Forwarded)
}

// address returns whether the address of the client is in one of the ranges. O is the condition.
func (b *builder) address(o dump.Object, byHeader bool, ranges ...dump.Object) *access.Requests {
	at, known := b.knownAddress(byHeader)
	in := false
	for _, r := range ranges {
		from, err := netip.ParseAddr(r.Text("address_prefix"))
		prefix, errLength := from.Unmap().Prefix(int(r.Number("prefix_len")))
		if err != nil || errLength != nil || !r.Has("prefix_len") || r.Beside("address_prefix", "prefix_len") != "" {
			known = false
		}
		in = in || prefix.Contains(at)
	}
	if !known {
		return b.undetermined("the address of the client", o)
	}
	return boolean(in)
}
