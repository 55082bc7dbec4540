package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// equal returns the JSON of a constraint.
func equal(key, value string) string {
	return fmt.Sprintf(`{"constraint": {"key": %q, "value": %q}}`, key, value)
}

func web(content string) *wire.Resource { return xdstest.Resource(wire.ClusterType, "web", content) }

var webKey = xdstest.Name{Type: wire.ClusterType, Name: "web"}

// forEnv returns a locator of web. Each client has a parameter of its own, which no variant
// depends on.
func forEnv(env string, client int) xdstest.Locator {
	return xdstest.Locator{Name: "web", Parameters: map[string]string{"env": env, "client": fmt.Sprint(client)}}
}

func TestManyClientsOfTwoVariants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.edit(func(s *xdstest.State) {
			s.Variants[webKey] = []wire.Variant{
				xdstest.Variant(web("1"), equal("env", "prod")),
				xdstest.Variant(web("2"), equal("env", "test")),
			}
		})
		var clients []*xdstest.Client
		env := func(i int) string { return []string{"prod", "test"}[i%2] }
		for i := range 50 {
			client := c.relay.client(xdstest.Options{StateOfTheWorld: i%3 == 0})
			must(t, client.SubscribeLocators(wire.ClusterType, forEnv(env(i), i)))
			clients = append(clients, client)
		}
		synctest.Wait()
		for i, client := range clients {
			located(t, client, wire.ClusterType, forEnv(env(i), i), web(fmt.Sprint(1+i%2)))
		}
		if streams, locators := c.upstream.streams(), c.upstream.subscriptions(wire.ClusterType); streams != 1 || locators != 2 {
			t.Errorf("the upstream has %d streams and %d locators, want 1 and 2", streams, locators)
		}
		before := c.upstream.pushes(wire.ClusterType)
		c.edit(func(s *xdstest.State) {
			s.Variants[webKey] = []wire.Variant{
				xdstest.Variant(web("1"), equal("env", "prod")),
				xdstest.Variant(web("3"), equal("env", "test")),
			}
		})
		for i, client := range clients {
			located(t, client, wire.ClusterType, forEnv(env(i), i), web(fmt.Sprint(1+i%2*2)))
		}
		if pushes := c.upstream.pushes(wire.ClusterType) - before; pushes != 1 {
			t.Errorf("a change of one variant costs the upstream %d responses, want 1", pushes)
		}
	})
}
