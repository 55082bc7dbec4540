package xds

import (
	"slices"
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

// A Client is what the form of a dataplane's resources depends on: the type of the node and
// what it lacks of the newest release. The zero Client is the newest Envoy.
type Client struct {
	Type ClientType
	// Lacks are the capabilities that the client does not have.
	Lacks capability.Set
}

// EnvoyOf returns the client that an Envoy of a version is.
func EnvoyOf(v capability.Version) Client {
	return Client{Lacks: capability.ClientOf(v).Lacks}
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

// ClientBy returns the client of a node by its user agent and its version (SPEC 18.2). An error names
// a version that is too old to be served.
func ClientBy(userAgent, version string) (Client, error) {
	c, err := capability.ClientBy(userAgent, version)
	if err != nil {
		return Client{}, err
	}
	if c.GRPC {
		return Client{Type: ProxylessGRPC, Lacks: c.Lacks}, nil
	}
	return Client{Lacks: c.Lacks}, nil
}

// Has reports whether the client has a capability.
func (c Client) Has(s capability.Set) bool { return c.Lacks&s == 0 }
