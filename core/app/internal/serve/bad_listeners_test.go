package serve_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// If Envoy would refuse a listener of a dataplane, the dataplane keeps its last good
// configuration. Other dataplanes get the rest of the edit (SPEC 11.1).
func TestBadListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		listening := func(node string) *xdstest.Client {
			c := r.client(node, nil)
			if err := c.Wildcard(wire.ListenerType); err != nil {
				t.Fatal(err)
			}
			return c
		}
		has := func(c *xdstest.Client, name string) func() bool {
			return func() bool {
				_, found := c.Named(wire.ListenerType)[name]
				return found
			}
		}
		web, api := listening(webNode), listening(apiNode)
		r.eventually("the first listener of web", has(web, "inbound/127.0.0.2/8080"))
		r.eventually("the first listener of api", has(api, "inbound/127.0.0.2/8081"))

		r.write("mesh.yaml", strings.NewReplacer(
			"port: 8080", "port: 8090", "{port: 9000, tags: {kuma.io/service: api}}", "{port: 8090, address: 127.0.0.2, tags: {kuma.io/service: api}}",
			"port: 8081", "port: 8091",
		).Replace(mesh))
		r.eventually("the second listener of api", has(api, "inbound/127.0.0.2/8091"))
		r.eventually("a warning", func() bool {
			return strings.Contains(r.log.String(), "listens at 127.0.0.2:8090, like inbound[0], so no proxy can serve the dataplane")
		})
		r.eventually("the last good listener for a new client", has(listening(webNode), "inbound/127.0.0.2/8080"))
		if !has(web, "inbound/127.0.0.2/8080")() || has(web, "inbound/127.0.0.2/8090")() {
			t.Error("the edit of web is served")
		}

		r.write("mesh.yaml", strings.Replace(mesh, "port: 8080", "port: 8090", 1))
		r.eventually("the next good listener of web", has(web, "inbound/127.0.0.2/8090"))
	})
}
