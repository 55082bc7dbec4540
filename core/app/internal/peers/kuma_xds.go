package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A kumaWorld is a mesh that both sides understand, the dataplanes whose resources are made,
// and two versions of a policy that selects them. The mesh has the second version.
type kumaWorld struct {
	set        *resource.Set
	dataplanes []*resource.Dataplane
	versions   [2]*resource.Policy
}

// proxyResources compares the xDS resources of proxies: clusters, endpoints, listeners and
// routes.
func proxyResources() []comparison {
	var list []comparison
	for _, w := range []struct {
		label, what, input, source string
		rounds                     int
		make                       func(s size) *kumaWorld
	}{
		{"one", "one proxy", "the fleet: 100 dataplanes with 10 outbounds, 90 MeshTimeouts and a rate limit; a MeshTimeout changes", "", 0, timeoutsOfFleet},
		{"all", "2,000 proxies", "mesh-perf: 1,000 services with 2 instances, and the rate limit of the whole mesh, which changes", shape.MeshPerfSource, 6, rateLimitOfMeshPerf},
	} {
		for _, edited := range []bool{false, true} {
			c := comparison{
				subject: "xDS resources of proxies, made on all processors",
				label:   "xDS from nothing, " + w.label, work: "resources of " + w.what + ", from nothing", input: w.input, source: w.source, unit: "s", kuma: true, rounds: w.rounds,
				note: "meshmatch validates the mesh and builds its indexes in this time; Kuma's resources are decoded and validated before, and are not copied. Compared are listeners, clusters, endpoints, timeouts and rate limits. Kuma also adds the tags of both sides to headers and metadata; meshmatch has routes as resources of their own, and versions of all. Kuma then compares with the previous snapshot, and validates, which is not in its time",
				prepare: func(ctx context.Context, s size) (*contest, error) {
					return resourcesOf(ctx, w.make(s), edited)
				},
			}
			if edited {
				c.label, c.work = "xDS after an edit, "+w.label, "resources of "+w.what+", after one policy has changed"
				c.note = "meshmatch's time has the edit of the whole mesh, and resources that did not change are kept; Kuma makes the context of the mesh anew, which its proxies share, and then each proxy from nothing. In this version the context resolves the addresses of all dataplanes once for each dataplane (fetchResourceList in pkg/xds/context). This part of its time grows with the square of the mesh"
			}
			list = append(list, c)
		}
	}
	return list
}

// timeoutsOfFleet is dataplane 7 of the fleet, and a MeshTimeout of the whole mesh.
func timeoutsOfFleet(s size) *kumaWorld {
	w := &kumaWorld{set: &resource.Set{Policies: kumaPolicies(s.pick(100, 30))}}
	for j := range s.pick(100, 12) {
		w.set.Dataplanes = append(w.set.Dataplanes, kumaDataplane(shape.Dataplane(j, 10)))
	}
	w.dataplanes = w.set.Dataplanes[7:8]
	original := w.set.Policies[0]
	changed := *original
	changed.To = []resource.Item{{TargetRef: original.To[0].TargetRef, Conf: shape.Timeout(1)}}
	w.versions = [2]*resource.Policy{&changed, original}
	w.set.Policies = append(w.set.Policies, sidecarRateLimit(10_000))
	return w
}

// rateLimitOfMeshPerf is all dataplanes of mesh-perf's graph.
func rateLimitOfMeshPerf(s size) *kumaWorld {
	services := s.pick(1_000, 30)
	w := &kumaWorld{set: new(resource.Set), versions: [2]*resource.Policy{sidecarRateLimit(20_000), sidecarRateLimit(10_000)}}
	for _, d := range shape.MeshPerf(services, 2) {
		w.set.Dataplanes = append(w.set.Dataplanes, kumaDataplane(d))
	}
	w.dataplanes = w.set.Dataplanes
	w.set.Policies = []*resource.Policy{w.versions[1], defaultTimeout()}
	return w
}

// defaultTimeout is the MeshTimeout for outbounds that Kuma makes with each mesh.
func defaultTimeout() *resource.Policy {
	kind := meshtimeout.Kind()
	duration := func(d time.Duration) *conf.Duration {
		c := conf.Duration(d)
		return &c
	}
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "mesh-timeout-all-default"}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.Sidecar},
		To: []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: &meshtimeout.Conf{
			ConnectionTimeout: duration(5 * time.Second), IdleTimeout: duration(time.Hour),
			HTTP: &meshtimeout.HTTP{RequestTimeout: duration(15 * time.Second), StreamIdleTimeout: duration(30 * time.Minute)},
		}}},
	}
}

// sidecarRateLimit is mesh-perf's policy for proxies of the kind that this version of Kuma
// allows to have limits for inbounds.
func sidecarRateLimit(requests uint32) *resource.Policy {
	p := shape.MeshPerfRateLimit(requests)
	p.TargetRef.ProxyTypes = resource.Sidecar
	return p
}

// kumaDataplane gives the inbounds the tag from which Kuma reads their protocol.
func kumaDataplane(d *resource.Dataplane) *resource.Dataplane {
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		if in.Protocol == "" {
			in.Protocol = "tcp"
		}
		tags := map[string]string{resource.ProtocolTag: in.Protocol}
		for _, tag := range in.Tags {
			tags[tag.Key] = tag.Value
		}
		in.Tags = resource.NewTags(tags)
	}
	return d
}

// resourcesOf makes the resources of the dataplanes of a world, from nothing or after each edit.
func resourcesOf(ctx context.Context, w *kumaWorld, edited bool) (*contest, error) {
	ask := command{Do: "xds", Mesh: shape.Mesh}
	for _, d := range w.dataplanes {
		ask.Dataplanes = append(ask.Dataplanes, d.Name)
	}
	build := func() ([]*wire.Snapshot, error) {
		engine, err := engineOf(ctx, w.set)
		if err != nil {
			return nil, err
		}
		return newMeshOf(engine, w.dataplanes, ca.NewAuthorities("")).snapshots(), nil
	}
	if edited {
		var err error
		if build, err = editingProxies(ctx, w); err != nil {
			return nil, err
		}
		ask.Do = "edit"
		for _, p := range w.versions {
			text, err := json.Marshal(p)
			if err != nil {
				return nil, err
			}
			ask.Resources = append(ask.Resources, text)
		}
	}
	c := &contest{contenders: []contender{
		{
			name: meshmatch,
			answer: func() (string, error) {
				all, err := build()
				if err != nil {
					return "", err
				}
				return factsOf(all, messagesOf)
			},
			operate: repeat(func() error {
				_, err := build()
				return err
			}),
		},
	}}
	return c, c.addKuma(ctx, w.set, ask, func(all []json.RawMessage) (string, error) { return factsOf(all, messagesOfKuma) })
}

// editingProxies returns a function that changes the policy of a world, and undoes that, in
// turn. The first call gives it the first version.
func editingProxies(ctx context.Context, w *kumaWorld) (func() ([]*wire.Snapshot, error), error) {
	engine, err := engineOf(ctx, w.set)
	if err != nil {
		return nil, err
	}
	m := newMeshOf(engine, w.dataplanes, ca.NewAuthorities(""))
	// What is served is kept, and what the next version shares with it is not made again.
	served := m.snapshots()
	next := 0
	return func() ([]*wire.Snapshot, error) {
		batch := core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{w.versions[next]}}}
		next = 1 - next
		if _, err := engine.Apply(ctx, batch); err != nil {
			return nil, err
		}
		served = m.snapshots()
		return served, nil
	}, nil
}

// factsOf returns what the resources of all proxies mean: see proxyFacts.
func factsOf[T any](proxies []T, messages func(T) ([]proto.Message, error)) (string, error) {
	var text strings.Builder
	for i, p := range proxies {
		all, err := messages(p)
		if err != nil {
			return "", err
		}
		facts, err := proxyFacts(all)
		if err != nil {
			return "", fmt.Errorf("proxy %d: %w", i, err)
		}
		fmt.Fprintln(&text, facts)
	}
	return text.String(), nil
}

func messagesOf(s *wire.Snapshot) ([]proto.Message, error) {
	var all []proto.Message
	for _, resources := range s {
		for _, r := range resources.Listed {
			m, err := message.Decode(r)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	return all, nil
}

func messagesOfKuma(text json.RawMessage) ([]proto.Message, error) {
	var bodies [][]byte
	if err := json.Unmarshal(text, &bodies); err != nil {
		return nil, err
	}
	var all []proto.Message
	for _, body := range bodies {
		var wrapped anypb.Any
		if err := proto.Unmarshal(body, &wrapped); err != nil {
			return nil, err
		}
		m, err := wrapped.UnmarshalNew()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", wrapped.TypeUrl, err)
		}
		all = append(all, m)
	}
	return all, nil
}
