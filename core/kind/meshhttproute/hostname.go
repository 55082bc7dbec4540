package meshhttproute

import (
	"net"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Hostname is a host name in lower case, *.example.com for every subdomain, or * for
// every host.
//
//confgen:openapi {"pattern": "^(\\*|(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$"}
type Hostname string

// Validate checks the labels of the name.
func (h Hostname) Validate(at *diag.At) {
	if h != "*" && !validHostname(strings.TrimPrefix(string(h), "*.")) {
		at.Errorf(diag.BadValue, "write a name in lower case, such as example.com or *.example.com", "bad host name %q", string(h))
	}
}

// PreciseHostname is a host name in lower case, without wildcards. It must not be an IP
// address.
//
//confgen:openapi {"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "maxLength": 253}
type PreciseHostname string

// Validate checks the labels of the name.
func (h PreciseHostname) Validate(at *diag.At) {
	if !validHostname(string(h)) {
		at.Errorf(diag.BadValue, "write a name in lower case, such as example.com", "bad host name %q", string(h))
	}
}

var hostname = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

func validHostname(name string) bool {
	return len(name) <= 253 && hostname.MatchString(name) && net.ParseIP(name) == nil
}

// HostNames returns the host names to which the rules are limited; none means all hosts.
func (c *Conf) HostNames() []string {
	return conf.Words(c.Hostnames...)
}
