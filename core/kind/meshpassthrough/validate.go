package meshpassthrough

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
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

var innerWildcard = regexp.MustCompile(`^\*\.(\*\.)+([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+$`)

// HasInnerWildcard reports whether the match has a domain such as *.*.example.com, which a
// control plane of Kuma accepts and Envoy cannot match.
func (m *Match) HasInnerWildcard() bool {
	return m.Type == Domain && innerWildcard.MatchString(m.Value)
}

// Validate reports destinations of one port with different versions of HTTP, for which a
// control plane of Kuma cannot make one filter chain.
func (c *Conf) Validate(at *diag.At) {
	first := map[conf.Port]Protocol{}
	for i := range c.AppendMatch {
		m := &c.AppendMatch[i]
		if !m.Speaks().IsHTTP() || m.Port == nil {
			continue
		}
		known, found := first[*m.Port]
		if !found {
			first[*m.Port] = m.Speaks()
		} else if known != m.Speaks() {
			at.Field("appendMatch").Index(i).Field("protocol").If(diag.AsKuma).Errorf(diag.BadValue, "give one protocol for all domains of the port", "port %d has the protocols %s and %s", *m.Port, known, m.Speaks())
		}
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
	} else if m.HasInnerWildcard() {
		at.Field("value").If(diag.AsTargetRef).Errorf(diag.BadValue, "write a name such as *.example.com", "bad domain %q", m.Value)
		at.Field("value").If(diag.AsKuma).Warnf(diag.NoEffectHere, "write a name such as *.example.com", "no proxy can match the domain %q: only the first label may be *", m.Value)
	} else if len(name) > 253 || !domainName.MatchString(name) {
		at.Field("value").Errorf(diag.BadValue, "write a name such as example.com or *.example.com", "bad domain %q", m.Value)
	}
	if p := m.Speaks(); p == TCP || p == MySQL {
		at.Field("protocol").Errorf(diag.FieldNotAllowed, "use tls, http, http2 or grpc", "protocol %q does not contain the domain", p)
	} else if wildcard && p.IsHTTP() && m.Port == nil {
		at.Field("port").Errorf(diag.MissingField, "", "is required for a wildcard with protocol %q", p)
	}
}
