package capability

import (
	"fmt"
	"strings"
)

// A Client is what the form of the resources of a client depends on. The zero Client is the newest
// Envoy.
type Client struct {
	GRPC  bool // all versions of gRPC get the same resources
	Lacks Set  // what the client does not have
}

// IsGRPC reports whether a user agent is one of gRPC, such as "gRPC Go" (SPEC 11.4).
func IsGRPC(userAgent string) bool { return strings.HasPrefix(userAgent, "gRPC") }

// ClientOf returns the client that an Envoy of a version is.
func ClientOf(v Version) Client { return Client{Lacks: All &^ Of(v)} }

// ClientBy returns the client of a node by its user agent and its version. A client that is not
// gRPC and states no version, or one that cannot be read, is taken for the oldest Envoy that was
// tried (SPEC 18.2). An error names a version that is too old to be served.
func ClientBy(userAgent, version string) (Client, error) {
	if IsGRPC(userAgent) {
		return Client{GRPC: true}, nil
	}
	v, err := ParseVersion(version)
	if err != nil {
		return ClientOf(Unknown), nil
	}
	if v.Compare(Oldest) < 0 {
		return ClientOf(Oldest), fmt.Errorf("the release %s of Envoy is too old: the oldest release that is served is %s; what the proxy has stays as it is, run a newer Envoy", v, Oldest)
	}
	return ClientOf(v), nil
}
