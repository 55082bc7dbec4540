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
func ClientOf(v Version) Client { return Client{Lacks: All &^ ForVersion(v)} }

// ClientBy returns the client of a node by its user agent and its version. A client that is not gRPC and states no readable
// version is taken for the oldest Envoy that was tried (SPEC 18.2). A program with another name is treated alike. The error
// names a version that is too old: for gRPC, a release that is not known to have permissions. The server calls this for
// each question of a client. It allocates nothing for a client that is served and states a release.
func ClientBy(userAgent, version string) (Client, error) {
	if IsGRPC(userAgent) {
		return Client{GRPC: true}, refuseGRPC(userAgent, version)
	}
	if version == "" {
		return ClientOf(Unknown), nil
	}
	v, err := ParseVersion(version)
	if err != nil {
		return ClientOf(Unknown), nil
	}
	if v.Compare(Oldest) < 0 {
		return ClientOf(Oldest), fmt.Errorf("the release %s of Envoy is too old: the oldest release that is served is %s; what the proxy has stays as it is, run a newer Envoy", v, Oldest)
	}
	if !isEnvoy(userAgent) && v.Compare(Unknown) > 0 {
		v = Unknown // the number is one of another program
	}
	return ClientOf(v), nil
}

// isEnvoy reports whether a user agent is an Envoy, which states the version of Envoy, or may be one.
func isEnvoy(userAgent string) bool {
	return userAgent == "" || strings.Contains(userAgent, "envoy") || strings.Contains(userAgent, "Envoy")
}

// permissionsSince are the first releases of gRPC with permissions (gRFC A41), by the beginning of
// the user agent. Older ones ignore the filter, so their servers would let everyone in. Servers of
// Node before 1.14.2 do not apply all that the filter says (CVE-2026-128065).
var permissionsSince = map[string]Version{
	"gRPC Go": {1, 42, 0}, "gRPC Java": {1, 42, 0}, "gRPC C-core": {1, 51, 0}, "gRPC Node": {1, 14, 2},
}

// coreSince is the number of C-core in its release 1.51. Newer ones state their release; older ones
// state these numbers, which are above 1.
var coreSince = Version{29, 0, 0}

// refuseGRPC returns why a gRPC is not known to have permissions. The text of a version may have
// words around the version, as "C-core 39.0.0".
func refuseGRPC(userAgent, text string) error {
	for name, first := range permissionsSince {
		if !strings.HasPrefix(userAgent, name) {
			continue
		}
		for word := range strings.FieldsSeq(text) {
			v, err := ParseVersion(word)
			if err != nil {
				continue
			}
			if name == "gRPC C-core" && v.Major > 1 {
				first = coreSince
			}
			if v.Compare(first) < 0 {
				return fmt.Errorf("%s %s is too old: its servers would ignore permissions; the oldest release that is served is %s", name, v, first)
			}
			return nil
		}
		return fmt.Errorf("%s states the version %.40q: its servers may ignore permissions; the oldest release that is served is %s", name, text, first)
	}
	return fmt.Errorf("%.40q is no gRPC that is known: its servers may ignore permissions", userAgent)
}
