package serve

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// oldVersions logs a warning for each version of a client that lacks something of the newest
// release, once (SPEC 18.3).
type oldVersions struct {
	log *slog.Logger

	mu     sync.Mutex
	logged map[string]bool // by version, at most maxFleet, because clients choose the texts
}

// admit returns why a client is too old to be served (SPEC 18.2), and logs what it lacks.
func (o *oldVersions) admit(node *server.Node) error {
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if err != nil || client.Type != xds.Envoy || client.Lacks == 0 {
		return err
	}
	v, err := capability.ParseVersion(node.Version)
	version := v.String()
	if err != nil {
		version = ""
	}
	if !o.isFirst(version) {
		return nil
	}
	if version == "" {
		o.log.Warn(fmt.Sprintf("a proxy states no version of Envoy, so it gets what %s gets", capability.Unknown))
		return nil
	}
	lacks := len(client.Lacks.Missing())
	o.log.Warn(fmt.Sprintf("a proxy is Envoy %s, which lacks %d capabilities of %s; /status has what it gets instead, and a check for this version says what policies lose",
		version, lacks, capability.Newest))
	return nil
}

// isFirst reports whether to log a version: it is new, and not too many were logged.
func (o *oldVersions) isFirst(version string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged[version] || len(o.logged) >= maxFleet {
		return false
	}
	o.logged[version] = true
	return true
}
