package meshpassthrough

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

var domainName = regexp.MustCompile(`^([A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?$`)

// Validate checks the value by its type, and that protocol and port identify
// the destination.
func (m *Match) Validate(at *diag.At) {
	value := at.Field("value")
	switch m.Type {
	case IP:
		if _, err := netip.ParseAddr(m.Value); err != nil {
			value.Errorf(diag.BadValue, "write an address such as 192.0.2.1 or 2001:db8::1", "bad IP address %q", m.Value)
		}
	case CIDR:
		if _, err := netip.ParsePrefix(m.Value); err != nil {
			value.Errorf(diag.BadValue, "write a range such as 192.0.2.0/24", "bad CIDR %q", m.Value)
		}
	case Domain:
		m.validateDomain(at)
	}
	if m.Speaks() == MySQL && m.Port == nil {
		at.Field("port").Errorf(diag.MissingField, "", "is required for protocol %q: its server speaks first", MySQL)
	}
}

func (m *Match) validateDomain(at *diag.At) {
	name, wildcard := m.Value, false
	switch {
	case name == "*":
		wildcard, name = true, "any"
	case strings.HasPrefix(name, "*."):
		wildcard, name = true, name[2:]
	}
	if _, err := netip.ParseAddr(name); err == nil {
		at.Field("value").Errorf(diag.BadValue, "write type: IP", "%q is an address, not a domain", m.Value)
	} else if len(name) > 253 || !domainName.MatchString(name) {
		at.Field("value").Errorf(diag.BadValue, "write a name such as example.com or *.example.com", "bad domain %q", m.Value)
	}
	if p := m.Speaks(); p == TCP || p == MySQL {
		at.Field("protocol").Errorf(diag.FieldNotAllowed, "use tls, http, http2 or grpc", "protocol %q does not contain the domain", p)
	} else if wildcard && p.IsHTTP() && m.Port == nil {
		at.Field("port").Errorf(diag.MissingField, "", "is required for a wildcard with protocol %q", p)
	}
}
