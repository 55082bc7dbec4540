package relay_test

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A scripted upstream answers each request by a function, and records the NACKs.
type scripted struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	answer func(*discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse
	mu     sync.Mutex
	nacks  []string
	nonces []string // of the responses that were answered
}

func (s *scripted) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		s.mu.Lock()
		if r.GetErrorDetail() != nil {
			s.nacks = append(s.nacks, r.GetErrorDetail().GetMessage())
		}
		if r.GetResponseNonce() != "" {
			s.nonces = append(s.nonces, r.GetResponseNonce())
		}
		answers := s.answer(r)
		s.mu.Unlock()
		for _, m := range answers {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
	}
}

// startScripted starts a scripted upstream and a relay.
func startScripted(t *testing.T, answer func(*discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse) (*scripted, *relayed) {
	s := &scripted{answer: answer}
	at := newSite(t, "scripted")
	g := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, s)
	at.listen(g)
	t.Cleanup(g.Stop)
	return s, newSite(t, "relay").relay(relay.Options{
		Upstreams: []relay.Upstream{at.upstream()}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

// variantMessage is a variant as an upstream sends it.
func variantMessage(v wire.Variant) *discoveryv3.Resource {
	m := &discoveryv3.Resource{
		Version: v.Resource.Version, ResourceName: &discoveryv3.ResourceName{Name: v.Resource.Name},
		Resource: &anypb.Any{TypeUrl: v.Resource.Type.URL(), Value: v.Resource.Append(nil)},
	}
	if v.Constraints != "" {
		m.ResourceName.DynamicParameterConstraints = new(discoveryv3.DynamicParameterConstraints)
		if err := proto.Unmarshal([]byte(v.Constraints), m.ResourceName.DynamicParameterConstraints); err != nil {
			panic(err)
		}
	}
	return m
}

// TestWrongResponses sends a good variant and then a wrong response. It is NACKed with a
// message, and the good variant stays served.
func TestWrongResponses(t *testing.T) {
	prod := xdstest.Variant(web("good"), equal("env", "prod"))
	change := func(edit func(*discoveryv3.Resource)) *discoveryv3.DeltaDiscoveryResponse {
		m := variantMessage(xdstest.Variant(web("changed"), equal("env", "prod")))
		edit(m)
		return &discoveryv3.DeltaDiscoveryResponse{Resources: []*discoveryv3.Resource{m}}
	}
	for name, k := range map[string]struct {
		response *discoveryv3.DeltaDiscoveryResponse
		want     string // in the NACK
	}{
		"the resource does not decode": {change(func(r *discoveryv3.Resource) { r.Resource.Value = []byte{0xff, 0xff, 1} }), "web: the resource does not decode"},
		"the resource is absent":       {change(func(r *discoveryv3.Resource) { r.Resource = nil }), "web: there is no resource"},
		"another type":                 {change(func(r *discoveryv3.Resource) { r.Resource.TypeUrl = wire.RouteType.URL() }), "web: the resource is a "},
		"another name inside": {change(func(r *discoveryv3.Resource) {
			r.Resource.Value = xdstest.Resource(wire.ClusterType, "other", "x").Body
		}), `web: the name inside of the resource is "other"`},
		"no version": {change(func(r *discoveryv3.Resource) { r.Version = "" }), "web: the version is empty"},
		"no name":    {change(func(r *discoveryv3.Resource) { r.ResourceName.Name = "" }), "the resource has no name"},
		"by name":    {change(func(r *discoveryv3.Resource) { r.Name, r.ResourceName = "web", nil }), "web: it was requested by locator, and the response has it by name"},
		"twice":      {&discoveryv3.DeltaDiscoveryResponse{Resources: []*discoveryv3.Resource{variantMessage(prod), variantMessage(prod)}}, "web: a variant is twice in the response"},
		"empty key":  {change(func(r *discoveryv3.Resource) { r.ResourceName.DynamicParameterConstraints.GetConstraint().Key = "" }), "web: invalid constraints: constraint.key: the key must not be empty"},
		"overlap": {&discoveryv3.DeltaDiscoveryResponse{Resources: []*discoveryv3.Resource{
			variantMessage(xdstest.Variant(web("overlap"), `{"constraint": {"key": "env", "exists": {}}}`)),
		}}, "web: two variants accept the same parameters, such as map[env:prod]"},
		"removed with invalid constraints": {&discoveryv3.DeltaDiscoveryResponse{RemovedResourceNames: []*discoveryv3.ResourceName{{
			Name: "web", DynamicParameterConstraints: &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: &discoveryv3.DynamicParameterConstraints_SingleConstraint{}}},
		}}}, "web: it is removed with invalid constraints"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k.response.TypeUrl, k.response.Nonce = wire.ClusterType.URL(), "2"
				s, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
					switch {
					case len(request.GetResourceLocatorsSubscribe()) > 0:
						return []*discoveryv3.DeltaDiscoveryResponse{{TypeUrl: wire.ClusterType.URL(), Nonce: "1", Resources: []*discoveryv3.Resource{variantMessage(prod)}}}
					case request.GetResponseNonce() == "1":
						return []*discoveryv3.DeltaDiscoveryResponse{proto.Clone(k.response).(*discoveryv3.DeltaDiscoveryResponse)}
					}
					return nil
				})
				client := r.client(xdstest.Options{})
				must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
				time.Sleep(time.Second)
				located(t, client, wire.ClusterType, forEnv("prod", 0), web("good"))
				s.mu.Lock()
				defer s.mu.Unlock()
				if len(s.nacks) != 1 || !strings.Contains(s.nacks[0], k.want) {
					t.Errorf("the NACKs are %q, want %q", s.nacks, k.want)
				}
				if n := r.relay.Status().Rejected; n != 1 {
					t.Errorf("/status has %d rejected responses", n)
				}
			})
		})
	}
}

// A response with an unknown type, and one of a type that was not requested, are NACKed.
func TestUnaskedTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
			if len(request.GetResourceNamesSubscribe()) == 0 {
				return nil
			}
			return []*discoveryv3.DeltaDiscoveryResponse{
				{TypeUrl: "type.googleapis.com/unknown", Nonce: "1"},
				{TypeUrl: wire.SecretType.URL(), Nonce: "2", Resources: []*discoveryv3.Resource{{Name: "key", Version: "1", Resource: &anypb.Any{TypeUrl: wire.SecretType.URL(), Value: xdstest.Resource(wire.SecretType, "key", "x").Body}}}},
			}
		})
		client := r.client(xdstest.Options{Node: node("a")})
		must(t, client.Subscribe(wire.ClusterType, "web"))
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.nacks) != 2 {
			t.Errorf("the NACKs are %q", s.nacks)
		}
	})
}

// An upstream sends a flood of wrong responses of all types, without a wait for their NACKs, and
// then a good one. The good one is served at once. The NACKs are few, and the last response of
// each type has one.
func TestFloodOfWrongResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := func(url, nonce string) *discoveryv3.DeltaDiscoveryResponse {
			return &discoveryv3.DeltaDiscoveryResponse{TypeUrl: url, Nonce: nonce, Resources: []*discoveryv3.Resource{{Name: "x"}}}
		}
		const flood = 2000
		s, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) (all []*discoveryv3.DeltaDiscoveryResponse) {
			if len(request.GetResourceLocatorsSubscribe()) == 0 {
				return nil
			}
			for i := range flood {
				all = append(all, wrong(wire.ClusterType.URL(), fmt.Sprint("cluster", i)), wrong("type.googleapis.com/unknown", fmt.Sprint("unknown", i)))
			}
			return append(all,
				&discoveryv3.DeltaDiscoveryResponse{TypeUrl: wire.ClusterType.URL(), Nonce: "good", Resources: []*discoveryv3.Resource{variantMessage(xdstest.Variant(web("good"), equal("env", "prod")))}},
				wrong(wire.ClusterType.URL(), "last"))
		})
		client := r.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		synctest.Wait()
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("good"))
		time.Sleep(10 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		want := []string{"cluster0", "unknown0", fmt.Sprint("cluster", flood-1), "good", "last", fmt.Sprint("unknown", flood-1)}
		if !slices.Equal(s.nonces, want) {
			t.Errorf("the responses that are answered are %q, want %q", s.nonces, want)
		}
		if n := r.relay.Status().Rejected; n != 2*flood+1 {
			t.Errorf("/status has %d rejected responses", n)
		}
		if n := r.relay.Counters().Unlogged.Load(); n < 2*flood-10 {
			t.Errorf("%d lines are left out of the log", n)
		}
	})
}

// An upstream sends what is rejected again at once, and good responses of another type in
// between. It is answered less and less often.
func TestRejectedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := startScripted(t, func(request *discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
			if len(request.GetResourceLocatorsSubscribe()) == 0 && request.GetErrorDetail() == nil {
				return nil
			}
			return []*discoveryv3.DeltaDiscoveryResponse{
				{TypeUrl: wire.ClusterType.URL(), Nonce: "wrong", Resources: []*discoveryv3.Resource{{Name: "x"}}},
				{TypeUrl: wire.EndpointType.URL(), Nonce: "good"},
			}
		})
		client := r.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.EndpointType, forEnv("prod", 0)))
		time.Sleep(time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.nacks); n < 10 || n > 40 { // 0.1 + 0.2 + ... s
			t.Errorf("there are %d NACKs in a minute", n)
		}
	})
}

// An upstream that never answers leaves clients with what they hold, and a second upstream is
// tried if there is one.
func TestSilentUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		silent := &scripted{answer: func(*discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse { return nil }}
		at := newSite(t, "silent")
		g := grpc.NewServer()
		discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, silent)
		at.listen(g)
		t.Cleanup(g.Stop)
		only := newSite(t, "only").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}})
		first := newSite(t, "first").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream(), c.at.upstream()}})
		var clients []*xdstest.Client
		for _, r := range []*relayed{only, first} {
			client := r.client(xdstest.Options{})
			must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
			clients = append(clients, client)
		}
		time.Sleep(time.Minute)
		if len(clients[0].Responses()) > 0 {
			t.Errorf("without an answer of the upstream, a client is answered: %+v", clients[0].Responses())
		}
		located(t, clients[1], wire.ClusterType, forEnv("prod", 0), web("prod"))
	})
}

// An upstream that has no ADS, or refuses the relay, is not used if there is another one.
func TestRefusingUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		at := newSite(t, "refusing")
		g := grpc.NewServer()
		at.listen(g)
		t.Cleanup(g.Stop)
		r := newSite(t, "second").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream(), c.at.upstream()}})
		client := r.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		time.Sleep(10 * time.Second)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("prod"))
	})
}

// TestCorruptUpstream puts a proxy between an upstream and a relay that changes responses at
// random. Each content that a client holds was served by the upstream, and the clients have
// the last state when the proxy changes nothing any more.
func TestCorruptUpstream(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 2))
				source := xdstest.NewSource(xdstest.NewState())
				upstream := newSite(t, "upstream")
				upstream.serve(server.Options{Source: source, Wait: 50 * time.Millisecond})
				between := &corrupter{to: upstream, random: rand.New(rand.NewPCG(seed, 3))}
				at := newSite(t, "between")
				g := grpc.NewServer()
				discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, between)
				at.listen(g)
				t.Cleanup(g.Stop)
				r := newSite(t, "relay").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}})

				served := map[string]bool{}
				publish := func() {
					source.Edit(func(s *xdstest.State) {
						prod, test, listed := web(fmt.Sprint("p", random.IntN(4))), web(fmt.Sprint("t", random.IntN(4))), web(fmt.Sprint("n", random.IntN(4)))
						s.Variants[webKey] = []wire.Variant{xdstest.Variant(prod, equal("env", "prod")), xdstest.Variant(test, equal("env", "test"))}
						s.Nodes["a"] = xdstest.Snapshot(listed)
						for _, r := range []*wire.Resource{prod, test, listed} {
							served[string(r.Body)] = true
						}
					})
				}
				publish()
				located1, envoy := r.client(xdstest.Options{}), r.client(xdstest.Options{Node: &corev3.Node{Id: "a", UserAgentName: "envoy"}})
				must(t, located1.SubscribeLocators(wire.ClusterType, forEnv("prod", 0), forEnv("test", 0)))
				must(t, envoy.Wildcard(wire.ClusterType))
				check := func() {
					for _, env := range []string{"prod", "test"} {
						if held, ok := located1.Located(wire.ClusterType, forEnv(env, 0)); ok && !served[held.Body] {
							t.Errorf("a client holds %q, which the upstream never had", held.Body)
						}
					}
					if held, ok := envoy.Named(wire.ClusterType)["web"]; ok && !served[held.Body] {
						t.Errorf("a node holds %q, which the upstream never had", held.Body)
					}
				}
				for range 60 {
					between.set(random.IntN(3) > 0)
					publish()
					time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
					synctest.Wait()
					check()
				}
				between.set(false)
				between.reset()
				time.Sleep(2 * time.Minute)
				publish()
				synctest.Wait()
				state := source.State()
				located(t, located1, wire.ClusterType, forEnv("prod", 0), state.Variants[webKey][0].Resource)
				located(t, located1, wire.ClusterType, forEnv("test", 0), state.Variants[webKey][1].Resource)
				if held := envoy.Named(wire.ClusterType)["web"].Body; held != string(state.Nodes["a"][wire.ClusterType].Listed[0].Body) {
					t.Errorf("the node holds %q", held)
				}
			})
		})
	}
}

// A corrupter passes streams on, and spoils responses while it is set.
type corrupter struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	to     *site
	random *rand.Rand
	mu     sync.Mutex
	on     bool
	ends   []func()
}

func (c *corrupter) set(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = on
}

// reset ends all streams.
func (c *corrupter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.ends {
		end()
	}
	c.ends = nil
}

func (c *corrupter) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	conn, err := grpc.NewClient("passthrough:upstream", c.to.options()...)
	if err != nil {
		return err
	}
	defer conn.Close()
	out, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(stream.Context())
	if err != nil {
		return err
	}
	ended := make(chan error, 3)
	c.mu.Lock()
	c.ends = append(c.ends, func() {
		select {
		case ended <- fmt.Errorf("reset"):
		default:
		}
	})
	c.mu.Unlock()
	go func() {
		for {
			r, err := stream.Recv()
			if err == nil {
				err = out.Send(r)
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	go func() {
		for {
			m, err := out.Recv()
			if err == nil {
				if m = c.spoil(m); m != nil {
					err = stream.Send(m)
				}
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	return <-ended
}

// spoil changes one thing of a response, so that no client may be served it; nil: nothing is
// sent.
func (c *corrupter) spoil(m *discoveryv3.DeltaDiscoveryResponse) *discoveryv3.DeltaDiscoveryResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on || len(m.Resources) == 0 {
		return m
	}
	r := m.Resources[c.random.IntN(len(m.Resources))]
	switch c.random.IntN(12) {
	case 6:
		return nil
	case 7:
		m.TypeUrl = wire.ListenerType.URL()
	case 8:
		m.Resources = append(m.Resources, proto.Clone(r).(*discoveryv3.Resource))
		r.Resource.Value = xdstest.Resource(wire.ClusterType, "web", "first of two").Body
		r.Version = ""
	case 9:
		r.ResourceName = &discoveryv3.ResourceName{Name: "web", DynamicParameterConstraints: &discoveryv3.DynamicParameterConstraints{
			Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: &discoveryv3.DynamicParameterConstraints_SingleConstraint{}},
		}}
		r.Name = ""
	case 10:
		// Before the rest, there is a variant for parameters that others have.
		all := proto.Clone(r).(*discoveryv3.Resource)
		all.Name, all.ResourceName = "", &discoveryv3.ResourceName{Name: "web"}
		all.Resource.Value = xdstest.Resource(wire.ClusterType, "web", "for all").Body
		m.Resources = append([]*discoveryv3.Resource{all, all}, m.Resources...)
	case 11:
		m.RemovedResourceNames = append(m.RemovedResourceNames, &discoveryv3.ResourceName{Name: "web", DynamicParameterConstraints: &discoveryv3.DynamicParameterConstraints{
			Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{OrConstraints: &discoveryv3.DynamicParameterConstraints_ConstraintList{}},
		}})
		r.Resource.Value = nil
	case 0:
		r.Version = ""
	case 1:
		r.Resource.Value = r.Resource.Value[:len(r.Resource.Value)-1]
	case 2:
		r.Resource.TypeUrl = wire.ListenerType.URL()
	case 3:
		r.Resource.Value = append(r.Resource.Value, 0xff)
	case 4:
		if r.ResourceName == nil {
			r.Name = "other"
		} else {
			r.ResourceName.Name = "other"
		}
	case 5:
		r.Resource = nil
	}
	return m
}
