package rbac

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
)

// The formats of filter states whose value is known.
const (
	peerFormat       = "%DOWNSTREAM_PEER_URI_SAN%"
	serverNameFormat = "%REQUESTED_SERVER_NAME%"
)

// addStates adds the filter states that a filter writes, each with the format of its text. What
// is written before the handshake has no certificate.
func addStates(states map[string]string, f *dump.Filter) {
	if !strings.Contains(f.Type, ".set_filter_state.") {
		return
	}
	for _, when := range []string{"on_downstream_tls_handshake", "on_request_headers"} {
		for _, v := range f.Config.List(when) {
			format := v.Object("format_string")
			states[cmp.Or(v.Text("object_key"), v.Text("factory_key"))] = cmp.Or(format.Object("text_format_source").Text("inline_string"), format.Text("text_format"))
		}
	}
}

// filterState returns the requests whose filter state meets a matcher.
func (b *builder) filterState(o dump.Object) *access.Requests {
	if o.Beside("key", "string_match") != "" || !o.Has("string_match") {
		return b.undetermined("a filter state", o)
	}
	p, err := patternOf(o.Object("string_match"))
	switch format := b.states[o.Text("key")]; {
	case err != nil:
		return b.undetermined(err.Error(), o)
	case format == peerFormat && !b.connection.TLS:
		return access.Or()
	case format == peerFormat:
		b.expression(o.Object("string_match"))
		return b.joined(p)
	case format == serverNameFormat:
		return p.requestsFor(access.ServerName)
	}
	return b.undetermined("a filter state", o)
}
