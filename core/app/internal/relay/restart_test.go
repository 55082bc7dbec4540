package relay_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// serveTwo makes the upstream serve two variants of web and a node.
func (c *chain) serveTwo() {
	c.edit(func(s *xdstest.State) {
		s.Variants[webKey] = []wire.Variant{xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test"))}
		s.Nodes["a"] = xdstest.Snapshot(web("node"), xdstest.Resource(wire.SecretType, "key", "private"))
	})
}

// The upstream is started again: the relay resumes, so nothing unchanged is sent, to it or to
// its clients; what was removed meanwhile is removed.
func TestRestartOfTheUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		clients := c.asking(t, "prod", "test", "prod")
		envoy := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, envoy.Wildcard(wire.ClusterType))
		synctest.Wait()
		before, bytes := c.relay.pushes(wire.ClusterType), c.relay.relay.Counters().Bytes.Load()
		c.restart(time.Minute)
		if got := c.relay.pushes(wire.ClusterType) - before; got != 0 {
			t.Errorf("the clients are sent %d responses, and nothing has changed", got)
		}
		if got := c.relay.relay.Counters().Bytes.Load() - bytes; got > 500 { // empty answers
			t.Errorf("the upstream sends %d bytes again", got)
		}
		if n := c.upstream.subscriptions(wire.ClusterType); n != 2 {
			t.Errorf("the upstream has %d subscriptions, want 2 locators", n)
		}
		c.upstream.stop()
		c.source.Edit(func(s *xdstest.State) {
			s.Variants[webKey] = s.Variants[webKey][:1]
			s.Nodes["a"] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "other", "1"))
		})
		time.Sleep(time.Minute)
		located(t, clients[1], wire.ClusterType, forEnv("test", 1), web("test"))
		c.restart(0)
		located(t, clients[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
		located(t, clients[1], wire.ClusterType, forEnv("test", 1), nil)
		if got := names(envoy, wire.ClusterType); got["web"] || !got["other"] {
			t.Errorf("the node holds %v", got)
		}
	})
}

// restartRelay kills the relay and starts another one with the same options.
func (c *chain) restartRelay(options relay.Options) {
	c.relay.stop()
	options.Upstreams = []relay.Upstream{c.at.upstream()}
	c.relay = c.relay.site.relay(options)
	synctest.Wait()
}

// A relay with a directory is started while there is no upstream: it serves what it held,
// except secrets, and resumes when the upstream is back.
func TestRestartFromDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := relay.Options{State: t.TempDir()}
		c := startChain(t, options)
		c.serveTwo()
		c.asking(t, "prod", "test")
		envoy := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, envoy.Wildcard(wire.ClusterType))
		must(t, envoy.Subscribe(wire.SecretType, "key"))
		synctest.Wait()
		c.upstream.stop()
		time.Sleep(time.Hour)
		c.restartRelay(options)
		if s := c.relay.relay.Status(); s.Connected || s.Age < 3600 || s.Age > 3700 {
			t.Errorf("the status is %+v", s)
		}
		clients := c.asking(t, "test", "prod")
		located(t, clients[0], wire.ClusterType, forEnv("test", 0), web("test"))
		located(t, clients[1], wire.ClusterType, forEnv("prod", 1), web("prod"))
		again := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, again.Wildcard(wire.ClusterType))
		must(t, again.Subscribe(wire.SecretType, "key"))
		synctest.Wait()
		if got := names(again, wire.ClusterType); !got["web"] {
			t.Errorf("the node holds %v", got)
		}
		if got := names(again, wire.SecretType); len(got) > 0 {
			t.Errorf("secrets were on disk: %v", got)
		}
		content, err := os.ReadFile(filepath.Join(options.State, "relay-cache"))
		must(t, err)
		if string(content) == "" || containsText(content, "private") {
			t.Error("the file has a secret")
		}
		bytes := c.relay.relay.Counters().Bytes.Load()
		c.restart(0)
		if got := names(again, wire.SecretType); !got["key"] {
			t.Errorf("with the upstream the node holds the secrets %v", got)
		}
		if got := c.relay.relay.Counters().Bytes.Load() - bytes; got > 1000 {
			t.Errorf("the upstream sends %d bytes, and only a secret was not held", got)
		}
	})
}

func containsText(content []byte, text string) bool {
	for i := range content {
		if len(content)-i >= len(text) && string(content[i:i+len(text)]) == text {
			return true
		}
	}
	return false
}

// Without a directory, and while there is no upstream, a client that resumes keeps what it
// holds: a relay that knows nothing removes nothing.
func TestRestartWithoutDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		located1 := c.asking(t, "prod")[0]
		var envoys []*xdstest.Client
		for _, state := range []bool{false, true} {
			envoy := c.relay.client(xdstest.Options{Node: node("a"), StateOfTheWorld: state})
			must(t, envoy.Wildcard(wire.ClusterType))
			envoys = append(envoys, envoy)
		}
		synctest.Wait()
		c.upstream.stop()
		c.restartRelay(relay.Options{})
		conn := ready(c.relay.site.conn())
		resume := func(old *xdstest.Client, options xdstest.Options) *xdstest.Client {
			options.Resume = old
			next, err := xdstest.New(t.Context(), conn, options)
			must(t, err)
			return next
		}
		located1 = resume(located1, xdstest.Options{})
		for i, state := range []bool{false, true} {
			envoys[i] = resume(envoys[i], xdstest.Options{Node: node("a"), StateOfTheWorld: state})
		}
		time.Sleep(time.Hour)
		for range 2 {
			located(t, located1, wire.ClusterType, forEnv("prod", 0), web("prod"))
			for i := range envoys {
				if got := names(envoys[i], wire.ClusterType); !got["web"] {
					t.Errorf("client %d holds %v", i, got)
				}
			}
			if got := c.relay.pushes(wire.ClusterType); got > 3 { // two empty answers when the upstream is back, and one in state of the world
				t.Errorf("the clients are sent %d responses, and nothing has changed", got)
			}
			c.restart(0)
		}
	})
}

// A client resumes at a relay that knows nothing yet. It unsubscribes, so it no longer holds
// what it resumed with, and subscribes again: it is sent the variant when the upstream is back.
func TestSubscribedAgainAfterResumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		before := c.asking(t, "prod")[0]
		c.upstream.stop()
		c.restartRelay(relay.Options{})
		client, err := xdstest.New(t.Context(), ready(c.relay.site.conn()), xdstest.Options{Resume: before})
		must(t, err)
		synctest.Wait()
		must(t, client.UnsubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		c.restart(0)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("prod"))
	})
}

// A file that was damaged is not used.
func TestDamagedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := relay.Options{State: t.TempDir()}
		c := startChain(t, options)
		c.serveTwo()
		c.asking(t, "prod")
		c.relay.stop()
		path := filepath.Join(options.State, "relay-cache")
		content, err := os.ReadFile(path)
		must(t, err)
		content[len(content)/2] ^= 1
		must(t, os.WriteFile(path, content, 0o600))
		c.upstream.stop()
		options.Upstreams = []relay.Upstream{c.at.upstream()}
		c.relay = c.relay.site.relay(options)
		client := c.asking(t, "prod")[0]
		located(t, client, wire.ClusterType, forEnv("prod", 0), nil)
		if c.relay.relay.Ready() {
			t.Error("a relay with nothing to serve is ready")
		}
	})
}

// After --max-age nothing is served to new clients, and the others keep what they hold.
func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{MaxAge: time.Minute})
		c.serveTwo()
		old := c.asking(t, "prod")[0]
		c.upstream.stop()
		time.Sleep(30 * time.Second)
		located(t, c.asking(t, "prod")[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
		time.Sleep(time.Minute)
		located(t, c.asking(t, "prod")[0], wire.ClusterType, forEnv("prod", 0), nil)
		located(t, old, wire.ClusterType, forEnv("prod", 0), web("prod"))
		if c.relay.relay.Ready() {
			t.Error("a relay that serves nothing is ready")
		}
		c.restart(0)
		located(t, c.asking(t, "prod")[0], wire.ClusterType, forEnv("prod", 0), web("prod"))
	})
}

// The second upstream is used while the first one is not there.
func TestSeveralUpstreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		down := newSite(t, "down")
		second := newSite(t, "relay2").relay(relay.Options{Upstreams: []relay.Upstream{down.upstream(), c.at.upstream()}})
		client := second.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		time.Sleep(time.Minute)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("prod"))
		if s := second.relay.Status(); s.Address != "passthrough:upstream" {
			t.Errorf("the status is %+v", s)
		}
	})
}
