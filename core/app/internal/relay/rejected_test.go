package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A relay that has NACKed a name requests it again within 15 s, again and again, until what comes
// is right. Until then what it held stays served, and the name is reported after 15 s.
func TestRejectedNamesAreRequestedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prod := xdstest.Variant(web("good"), equal("env", "prod"))
		changed := xdstest.Variant(web("changed"), equal("env", "prod"))
		overlapping := xdstest.Variant(web("overlap"), `{"constraint": {"key": "env", "exists": {}}}`)
		respond := func(nonce string, variants ...wire.Variant) []*discoveryv3.DeltaDiscoveryResponse {
			m := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: wire.ClusterType.URL(), Nonce: nonce}
			for _, v := range variants {
				m.Resources = append(m.Resources, variantMessage(v))
			}
			return []*discoveryv3.DeltaDiscoveryResponse{m}
		}
		var requested []time.Time
		_, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
			switch {
			case request.GetResponseNonce() == "1":
				return respond("2", overlapping) // and the upstream never sends it again by itself
			case len(request.GetResourceLocatorsSubscribe()) == 0:
				return nil
			}
			switch requested = append(requested, time.Now()); len(requested) {
			case 1:
				return respond("1", prod)
			case 2, 3:
				return respond("3", changed, overlapping)
			}
			return respond("4", changed)
		})
		client := r.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		time.Sleep(20 * time.Second)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("good"))
		if list := r.relay.Status().RejectedNames; len(list) != 1 || list[0].Name != "web" || list[0].Type != "clusters" || time.Since(list[0].Since) < 15*time.Second {
			t.Errorf("the status has the rejected names %+v", list)
		}
		if !r.relay.Ready() {
			t.Error("a relay that serves what it holds is not ready")
		}
		time.Sleep(time.Minute)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("changed"))
		if list := r.relay.Status().RejectedNames; len(list) > 0 {
			t.Errorf("the status has the rejected names %+v", list)
		}
		if len(requested) != 4 {
			t.Errorf("the name was requested %d times, want 4", len(requested))
		}
		for i := 1; i < len(requested); i++ {
			if d := requested[i].Sub(requested[i-1]); d > 15*time.Second {
				t.Errorf("the name was requested again after %v", d)
			}
		}
	})
}

// A name of a node that was NACKed is requested again, one that a wildcard selects too.
func TestRejectedNamesOfNodesAreRequestedAgain(t *testing.T) {
	for _, wildcard := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			const name = "inbound/a"
			good, changed := xdstest.Resource(wire.ListenerType, name, "good"), xdstest.Resource(wire.ListenerType, name, "changed")
			respond := func(nonce string, r *wire.Resource) []*discoveryv3.DeltaDiscoveryResponse {
				return []*discoveryv3.DeltaDiscoveryResponse{{TypeUrl: wire.ListenerType.URL(), Nonce: nonce, Resources: []*discoveryv3.Resource{{
					Name: name, Version: r.Version, Resource: &anypb.Any{TypeUrl: wire.ListenerType.URL(), Value: r.Body},
				}}}}
			}
			requested := 0
			_, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
				if request.GetTypeUrl() != wire.ListenerType.URL() {
					return nil
				}
				again := slices.Contains(slices.Concat(request.GetResourceNamesSubscribe(), request.GetResourceNamesUnsubscribe()), name)
				switch {
				case request.GetResponseNonce() == "1":
					return respond("2", xdstest.Resource(wire.ListenerType, "another name", "bad"))
				case request.GetResponseNonce() != "":
					return nil
				}
				if requested++; requested == 1 {
					return respond("1", good)
				}
				if again {
					return respond("3", changed)
				}
				return nil
			})
			client := r.client(xdstest.Options{Node: node("n")})
			if wildcard {
				must(t, client.Wildcard(wire.ListenerType))
			} else {
				must(t, client.Subscribe(wire.ListenerType, "inbound/a"))
			}
			synctest.Wait()
			time.Sleep(time.Second)
			if got := contents(client, wire.ListenerType)["inbound/a"]; got != string(good.Body) {
				t.Errorf("the client holds %q", got)
			}
			time.Sleep(15 * time.Second)
			synctest.Wait()
			if got := contents(client, wire.ListenerType)["inbound/a"]; got != string(changed.Body) {
				t.Errorf("wildcard %v: 15 s later the client holds %q", wildcard, got)
			}
		})
	}
}

// A subscription without a response is sent again.
func TestPendingSubscriptionsAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		_, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
			if len(request.GetResourceLocatorsSubscribe()) == 0 {
				return nil
			}
			if n++; n == 1 {
				return nil
			}
			return []*discoveryv3.DeltaDiscoveryResponse{{TypeUrl: wire.ClusterType.URL(), Nonce: "1", Resources: []*discoveryv3.Resource{variantMessage(xdstest.Variant(web("1"), ""))}}}
		})
		client := r.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		time.Sleep(16 * time.Second)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("1"))
	})
}

func contents(c *xdstest.Client, t wire.Type) map[string]string {
	m := map[string]string{}
	for name, h := range c.Named(t) {
		m[name] = h.Body
	}
	return m
}
