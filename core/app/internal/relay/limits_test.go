package relay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Clients make up parameters that have no variant. The relay sends a limited number of
// subscriptions; others wait, and what a variant covers is served. When the clients are gone, their
// subscriptions are evicted soon, and those that wait are sent.
func TestMadeUpParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.relay.relay.SetMaxSubscriptions(20)
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")))
		c.asking(t, "prod")
		var made []*xdstest.Client
		for i := range 100 {
			made = append(made, c.asking(t, fmt.Sprint("made-up-", i))...)
		}
		if n := c.upstream.subscriptions(wire.ClusterType); n > 20 {
			t.Errorf("the upstream has %d subscriptions, and the limit is 20", n)
		}
		waiting := c.asking(t, "test", "prod")
		located(t, waiting[1], wire.ClusterType, forEnv("prod", 1), web("prod"))
		c.serveVariants(xdstest.Variant(web("prod"), equal("env", "prod")), xdstest.Variant(web("test"), equal("env", "test")))
		for _, client := range made {
			client.Close()
		}
		time.Sleep(time.Minute)
		located(t, waiting[0], wire.ClusterType, forEnv("test", 0), web("test"))
		if n := c.upstream.subscriptions(wire.ClusterType); n > 10 {
			t.Errorf("a minute later the upstream has %d subscriptions for two variants", n)
		}
	})
}

// Clients make up nodes, and go. The relay does not keep those that the upstream does not have.
func TestMadeUpNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		for i := range 50 {
			client := c.relay.client(xdstest.Options{Node: node(fmt.Sprint("made-up-", i))})
			must(t, client.Wildcard(wire.ClusterType))
			synctest.Wait()
			client.Close()
		}
		envoy := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, envoy.Wildcard(wire.ClusterType))
		synctest.Wait()
		envoy.Close()
		time.Sleep(time.Minute)
		if ids := c.relay.relay.NodeIDs(); len(ids) != 1 || ids[0] != "a" {
			t.Errorf("the relay keeps the nodes %v", ids)
		}
	})
}

// onlyOwn allows clients the parameters of one environment.
type onlyOwn struct{}

func (onlyOwn) Node(server.State, *server.Client, string) bool { return true }

func (onlyOwn) Name(server.State, *server.Client, string) bool { return true }

func (onlyOwn) Parameters(_ server.State, client *server.Client, p map[string]string) bool {
	return client.For == "" || p["env"] == "prod"
}

// A client with an identity makes up parameters that it may not have. Each decision is a
// stream to the upstream, so their number is limited for each identity; other identities are
// served.
func TestMadeUpGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := xdstest.NewSource(xdstest.NewState())
		source.Edit(func(s *xdstest.State) {
			s.Variants[webKey] = []wire.Variant{xdstest.Variant(web("prod"), equal("env", "prod"))}
		})
		at := newSite(t, "upstream")
		upstream := at.serve(server.Options{
			Source: source, Access: onlyOwn{},
			Identify:  func(context.Context) (string, error) { return "relay", nil },
			Relay:     func(*server.Client) bool { return true },
			SpeaksFor: func(m *structpb.Struct) string { return m.GetFields()[relay.ClientMetadata].GetStringValue() },
		})
		identity := "bad"
		r := newSite(t, "relay").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}, Authenticated: true}, func(o *server.Options) {
			o.Identify = func(context.Context) (string, error) { return identity, nil }
		})
		synctest.Wait()
		bad := r.client(xdstest.Options{})
		var locators []xdstest.Locator
		for i := range 1000 {
			locators = append(locators, xdstest.Locator{Name: fmt.Sprint("name-", i), Parameters: map[string]string{"env": fmt.Sprint("made-up-", i)}})
		}
		must(t, bad.SubscribeLocators(wire.ClusterType, locators...))
		synctest.Wait()
		if n := upstream.streams(); n > 250 {
			t.Errorf("the upstream has %d streams", n)
		}
		for _, l := range locators {
			if code, _ := bad.Error(wire.ClusterType, l.Name); code != codes.PermissionDenied {
				t.Fatalf("%s has the error %v", l.Name, code)
			}
		}
		identity = "good"
		good := r.client(xdstest.Options{})
		must(t, good.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		synctest.Wait()
		located(t, good, wire.ClusterType, forEnv("prod", 0), web("prod"))
		bad.Close()
		time.Sleep(time.Hour)
		if n := upstream.streams(); n > 2 {
			t.Errorf("an hour later the upstream has %d streams", n)
		}
	})
}

// The clock was set back while the relay was down: what it kept is not younger than its start.
func TestClockSetBack(t *testing.T) {
	options := relay.Options{State: t.TempDir(), MaxAge: time.Minute}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24 * time.Hour)
		c := startChain(t, options)
		c.serveTwo()
		c.asking(t, "prod")
		c.relay.stop()
	})
	if _, err := os.Stat(filepath.Join(options.State, "relay-cache")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // the clock of each bubble begins at the same time
		options.Upstreams = []relay.Upstream{newSite(t, "nowhere").upstream()}
		r := newSite(t, "relay").relay(options)
		time.Sleep(30 * time.Second)
		if s := r.relay.Status(); s.Expired || s.Age < 29 || s.Age > 31 {
			t.Errorf("half a minute after the start, the status is %+v", s)
		}
		time.Sleep(time.Minute)
		if s := r.relay.Status(); !s.Expired {
			t.Errorf("after %v, the status is %+v", options.MaxAge, s)
		}
	})
}
