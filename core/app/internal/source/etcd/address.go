package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// The schemes of addresses: without and with TLS.
const (
	Scheme    = "etcd"
	SchemeTLS = "etcds"
)

// Address is an address etcd://HOST:PORT[,HOST:PORT...]/PREFIX, or etcds:// with TLS.
type Address struct {
	Endpoints []string // HOST:PORT
	Prefix    string   // without slashes at its ends
	TLS       bool
}

// errForm describes the form of an address.
var errForm = errors.New("must be etcd://HOST:PORT[,HOST:PORT...]/PREFIX, or etcds:// for TLS")

// ParseAddress parses an address.
func ParseAddress(text string) (*Address, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	a := &Address{TLS: scheme == SchemeTLS}
	hosts, prefix, found := strings.Cut(rest, "/")
	a.Prefix = strings.Trim(prefix, "/")
	switch {
	case scheme != Scheme && scheme != SchemeTLS, !found, hosts == "":
		return nil, fmt.Errorf("%q %w", text, errForm)
	case strings.Contains(hosts, "@"):
		return nil, fmt.Errorf("an address has no user: give it apart; it %w", errForm)
	case a.Prefix == "":
		return nil, fmt.Errorf("%q has no prefix; it %w", text, errForm)
	case strings.ContainsAny(a.Prefix, "?#\x00"):
		return nil, fmt.Errorf("the prefix %q has a character that is not allowed: ? or #", a.Prefix)
	}
	for host := range strings.SplitSeq(hosts, ",") {
		name, port, err := net.SplitHostPort(host)
		if err != nil || name == "" || port == "" {
			return nil, fmt.Errorf("%q has the endpoint %q; it %w", text, host, errForm)
		}
		a.Endpoints = append(a.Endpoints, host)
	}
	return a, nil
}

// String returns the address.
func (a *Address) String() string {
	scheme := Scheme
	if a.TLS {
		scheme = SchemeTLS
	}
	return scheme + "://" + strings.Join(a.Endpoints, ",") + "/" + a.Prefix
}

// Safe reports whether secrets may be sent to the address: over TLS, or on loopback.
func (a *Address) Safe() bool {
	if a.TLS {
		return true
	}
	for _, endpoint := range a.Endpoints {
		host, _, _ := net.SplitHostPort(endpoint)
		ip, err := netip.ParseAddr(host)
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// urls returns the endpoints as URLs.
func (a *Address) urls() []string {
	scheme := "http"
	if a.TLS {
		scheme = "https"
	}
	return lists.Map(a.Endpoints, func(endpoint string) string { return (&url.URL{Scheme: scheme, Host: endpoint}).String() })
}
