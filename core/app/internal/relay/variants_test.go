package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// serveVariants makes the upstream serve web in variants.
func (c *chain) serveVariants(variants ...wire.Variant) {
	c.edit(func(s *xdstest.State) { s.Variants[webKey] = variants })
}

// asking starts clients of web, by their environments.
func (c *chain) asking(t *testing.T, environments ...string) (clients []*xdstest.Client) {
	for i, env := range environments {
		client := c.relay.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv(env, i)))
		clients = append(clients, client)
	}
	synctest.Wait()
	return clients
}

// A variant is split and joined again: no client is ever without one, and the upstream has
// as many subscriptions as there are variants in use.
func TestSplitAndJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		all := xdstest.Variant(web("all"), "")
		c.serveVariants(all)
		environments := []string{"prod", "test", "prod", "test"}
		clients := c.asking(t, environments...)
		if n := c.upstream.subscriptions(wire.ClusterType); n != 1 {
			t.Errorf("one variant for all has %d subscriptions", n)
		}
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		for i, client := range clients {
			located(t, client, wire.ClusterType, forEnv(environments[i], i), web(environments[i]))
		}
		if n := c.upstream.subscriptions(wire.ClusterType); n != 2 {
			t.Errorf("two variants have %d subscriptions", n)
		}
		c.serveVariants(all)
		for i, client := range clients {
			located(t, client, wire.ClusterType, forEnv(environments[i], i), web("all"))
			for _, r := range client.Responses() {
				if len(r.Resources) == 0 {
					t.Errorf("client %d lost its variant: %+v", i, r)
				}
			}
		}
		if n := c.upstream.subscriptions(wire.ClusterType); n != 1 {
			t.Errorf("after the variants were joined there are %d subscriptions", n)
		}
	})
}

// The upstream is lost just when it has split a variant: clients that need the other half
// keep what they hold until it is back.
func TestSplitWithoutTheSecondHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveVariants(xdstest.Variant(web("all"), ""))
		clients := c.asking(t, "prod", "test")
		c.upstream.stop()
		c.source.Edit(func(s *xdstest.State) {
			s.Variants[webKey] = []wire.Variant{xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test"))}
		})
		time.Sleep(time.Hour)
		located(t, clients[1], wire.ClusterType, forEnv("test", 1), web("all"))
		c.restart(0)
		located(t, clients[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
		located(t, clients[1], wire.ClusterType, forEnv("test", 1), web("test"))
	})
}

// What no variant covers, or does not exist, is an error once the upstream has said so, and
// is sent when it comes.
func TestMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")))
		clients := c.asking(t, "prod", "test", "test")
		located(t, clients[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
		for _, client := range clients[1:] {
			if code, _ := client.Error(wire.ClusterType, "web"); code != codes.NotFound {
				t.Errorf("parameters without a variant have the error %v", code)
			}
		}
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		for i, client := range clients[1:] {
			located(t, client, wire.ClusterType, forEnv("test", i+1), web("test"))
		}
		if n := c.upstream.subscriptions(wire.ClusterType); n != 2 {
			t.Errorf("two variants have %d subscriptions", n)
		}
		c.serveVariants()
		for i, client := range clients {
			located(t, client, wire.ClusterType, forEnv([]string{"prod", "test", "test"}[i], i), nil)
		}
	})
}

// A variant that no client has used for a while is given up; one that a client uses without
// a change is not.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{Idle: 10 * time.Minute})
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		clients := c.asking(t, "prod", "test")
		clients[1].Close()
		time.Sleep(5 * time.Minute)
		if n := c.upstream.subscriptions(wire.ClusterType); n != 2 {
			t.Errorf("after half of the time there are %d subscriptions", n)
		}
		time.Sleep(time.Hour)
		if n := c.upstream.subscriptions(wire.ClusterType); n != 1 {
			t.Errorf("after an hour there are %d subscriptions", n)
		}
		located(t, clients[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
		c.serveVariants(xdstest.Variant(web("2"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		located(t, clients[0], wire.ClusterType, forEnv("prod", 0), web("2"))
	})
}

// The number of batches in which many clients learn their variants grows slowly.
func TestManyVariants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		const n = 300 // more than are combined into one diagram
		var variants []wire.Variant
		for i := range n {
			variants = append(variants, xdstest.Variant(web(fmt.Sprint(i)), equal("env", fmt.Sprint(i))))
		}
		c.serveVariants(variants...)
		client := c.relay.client(xdstest.Options{})
		var locators []xdstest.Locator
		for i := range 2 * n {
			locators = append(locators, forEnv(fmt.Sprint(i%n), i))
		}
		must(t, client.SubscribeLocators(wire.ClusterType, locators...))
		synctest.Wait()
		for i, l := range locators {
			located(t, client, wire.ClusterType, l, web(fmt.Sprint(i%n)))
		}
		if got := c.upstream.subscriptions(wire.ClusterType); got != n {
			t.Errorf("%d variants have %d subscriptions", n, got)
		}
		if requests := c.relay.relay.Counters().Requests.Load(); requests > 200 {
			t.Errorf("%d variants took %d requests", n, requests)
		}
	})
}

// Constraints are passed on as they are, so a relay behind a relay shares variants too.
func TestRelayBehindRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		second := newSite(t, "second").relay(relay.Options{Upstreams: []relay.Upstream{c.relay.site.upstream()}})
		prod := xdstest.Variant(web("prod"), equal("env", "prod"))
		c.serveVariants(prod)
		client := second.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		synctest.Wait()
		if held, _ := client.Located(wire.ClusterType, forEnv("prod", 0)); held.Constraints != prod.Constraints || held.Body != string(prod.Resource.Body) {
			t.Errorf("the client holds %+v", held)
		}
	})
}

// The names of a node with parameters are requested by locator, so nodes share them.
func TestParametersOfNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{}, func(o *server.Options) { o.Parameters = envOfMetadata })
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		for i := range 6 {
			env := []string{"prod", "test"}[i%2]
			client := c.relay.client(xdstest.Options{Node: nodeIn(fmt.Sprint("n", i), env), StateOfTheWorld: i%3 == 0})
			must(t, client.Subscribe(wire.ClusterType, "web"))
			synctest.Wait()
			if held := client.Named(wire.ClusterType)["web"]; held.Body != string(web(env).Body) {
				t.Errorf("a node in %s holds %q", env, held.Body)
			}
		}
		if streams, n := c.upstream.streams(), c.upstream.subscriptions(wire.ClusterType); streams != 1 || n != 2 {
			t.Errorf("the upstream has %d streams and %d subscriptions, want 1 and 2", streams, n)
		}
	})
}

// An extension belongs to one inbound, so no locator has it: a node with parameters gets
// its own, on the stream of its node (SPEC 11.8).
func TestExtensionsOfNodesWithParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{}, func(o *server.Options) { o.Parameters = envOfMetadata })
		extension := xdstest.Resource(wire.ExtensionType, "permission/in", "1")
		c.edit(func(s *xdstest.State) { s.Nodes["a"] = xdstest.Snapshot(extension) })
		for _, state := range []bool{false, true} {
			client := c.relay.client(xdstest.Options{Node: nodeIn("a", "prod"), StateOfTheWorld: state})
			must(t, client.Subscribe(wire.ExtensionType, "permission/in"))
			synctest.Wait()
			if held := client.Named(wire.ExtensionType)["permission/in"]; held.Body != string(extension.Append(nil)) {
				t.Errorf("state of the world %v: the node holds %q", state, held.Body)
			}
			client.Close()
		}
	})
}
