package xds

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

// A ClientType is the xDS implementation of a node. It determines the resources that the
// node can use.
type ClientType uint8

// The client types.
const (
	Envoy ClientType = iota
	// ProxylessGRPC is a process that uses gRPC instead of Envoy, as client, server or
	// both. It gets fewer resources, in the form that gRPC accepts (SPEC 11.4).
	ProxylessGRPC
)

// ClientOf returns the type of a node by its user agent, such as "gRPC Go" (SPEC 11.4).
func ClientOf(userAgent string) ClientType {
	if strings.HasPrefix(userAgent, "gRPC") {
		return ProxylessGRPC
	}
	return Envoy
}

// A Client is what the form of a dataplane's resources depends on: the type of the node and
// what it lacks of the newest release. The zero Client is the newest Envoy.
type Client struct {
	Type ClientType
	// Lacks are the capabilities that the client does not have.
	Lacks capability.Set
}

// EnvoyOf returns the client that an Envoy of a version is.
func EnvoyOf(v capability.Version) Client {
	return Client{Type: Envoy, Lacks: capability.All &^ capability.Of(v)}
}

// Envoys returns the clients that Envoys of all supported releases are, without duplicates.
func Envoys() []Client { return slices.Clone(envoys()) }

var envoys = sync.OnceValue(func() (list []Client) {
	for _, release := range capability.Releases {
		if v, err := capability.ParseVersion(release); err == nil && !slices.Contains(list, EnvoyOf(v)) {
			list = append(list, EnvoyOf(v))
		}
	}
	return list
})

// ClientBy returns the client of a node by its user agent and its version. A client that is not
// gRPC and states no version, or one that cannot be read, is taken for the oldest Envoy that was
// tried (SPEC 18.2). An error names a version that is too old to be served. All versions of gRPC
// get the same resources.
func ClientBy(userAgent, version string) (Client, error) {
	if t := ClientOf(userAgent); t != Envoy {
		return Client{Type: t}, nil
	}
	v, err := capability.ParseVersion(version)
	if err != nil {
		return EnvoyOf(capability.Unknown), nil
	}
	if v.Compare(capability.Oldest) < 0 {
		return Client{}, fmt.Errorf("the release %s of Envoy is too old: the oldest release that is served is %s; what the proxy has stays as it is, run a newer Envoy", v, capability.Oldest)
	}
	return EnvoyOf(v), nil
}

// Has reports whether the client has a capability.
func (c Client) Has(s capability.Set) bool { return c.Lacks&s == 0 }
