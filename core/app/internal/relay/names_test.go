package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Clients subscribe to thousands of names in two variants, the upstream is restarted while all
// contents of one variant change, and the clients unsubscribe, with the relay started in
// between.
func TestThousandsOfNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		options := relay.Options{State: t.TempDir(), Idle: 10 * time.Minute}
		c := startChain(t, options)
		resource := func(i int, content string) *wire.Resource {
			return xdstest.Resource(wire.ClusterType, fmt.Sprint("name-", i), content)
		}
		serve := func(prod string) {
			c.source.Edit(func(s *xdstest.State) {
				for i := range n {
					s.Variants[xdstest.Name{Type: wire.ClusterType, Name: fmt.Sprint("name-", i)}] = []wire.Variant{
						xdstest.Variant(resource(i, prod), equal("env", "prod")), xdstest.Variant(resource(i, "test"), equal("env", "test")),
					}
				}
			})
		}
		locators := func(env string, client int) (all []xdstest.Locator) {
			for i := range n {
				all = append(all, xdstest.Locator{Name: fmt.Sprint("name-", i), Parameters: map[string]string{"env": env, "client": fmt.Sprint(client)}})
			}
			return all
		}
		serve("first")
		environments := []string{"prod", "test", "prod"}
		var clients []*xdstest.Client
		subscribe := func() {
			clients = nil
			for i, env := range environments {
				client := c.relay.client(xdstest.Options{})
				must(t, client.SubscribeLocators(wire.ClusterType, locators(env, i)...))
				clients = append(clients, client)
			}
			synctest.Wait()
		}
		check := func(prod string) {
			t.Helper()
			for i, env := range environments {
				want := map[string]string{"prod": prod, "test": "test"}[env]
				for k, l := range locators(env, i) {
					located(t, clients[i], wire.ClusterType, l, resource(k, want))
					if t.Failed() {
						return
					}
				}
			}
		}
		subscribe()
		check("first")
		if got := c.upstream.subscriptions(wire.ClusterType); got != 2*n {
			t.Errorf("the upstream has %d subscriptions, want %d", got, 2*n)
		}
		c.upstream.stop()
		serve("second")
		bytes := c.relay.relay.Counters().Bytes.Load()
		c.restart(0)
		check("second")
		if got := (c.relay.relay.Counters().Bytes.Load() - bytes) / n; got > 200 {
			t.Errorf("the upstream sends %d bytes for each name with one changed variant", got)
		}
		c.restartRelay(options)
		subscribe()
		check("second")
		for i, client := range clients {
			must(t, client.UnsubscribeLocators(wire.ClusterType, locators(environments[i], i)...))
		}
		time.Sleep(time.Hour)
		if got := c.upstream.subscriptions(wire.ClusterType); got != 0 {
			t.Errorf("an hour after the last client has unsubscribed, the upstream has %d subscriptions", got)
		}
	})
}
