package shape

import (
	"fmt"
	"iter"
	"math/rand"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshratelimit"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The parameters with which the tests of Kong/mesh-perf make their graph
// (test/k8s/simple_test.go at 054c23a902e8).
const (
	MeshPerfSeed         = 872835240
	meshPerfPercentEdges = 50
)

// MeshPerfSource is where the graph and the edits are described: the tests, and the generator of
// the graph that they call.
const MeshPerfSource = "Kong/mesh-perf test/k8s/simple_test.go at 054c23a902e8 and 418396d10d7b; kumahq/kuma-tools graph/generate_mesh.go at 1ae145129a3f"

// MeshPerf returns the dataplanes of the random service graph of Kong/mesh-perf: the
// instances of the services, in order. A service calls only services with a higher number,
// so the graph has no cycle. It calls the service that is d further with a probability of
// 1/d times the percentage of edges, so most edges are short. The random numbers are drawn
// as in kumahq/kuma-tools (graph/generate_mesh.go at 1ae145129a3f), so the graph is the
// same. Each dataplane has one outbound for each service that its own one calls.
func MeshPerf(services, instances int) []*resource.Dataplane {
	var dataplanes []*resource.Dataplane
	for service, calls := range meshPerfGraph(MeshPerfSeed, services, meshPerfPercentEdges) {
		for instance := range instances {
			dataplanes = append(dataplanes, meshPerfInstance(service, instance, len(dataplanes), calls))
		}
	}
	return dataplanes
}

// MeshPerfInstance returns one more instance of a service of the graph, which calls
// nothing: what the tests of mesh-perf add when they scale a service.
func MeshPerfInstance(service, instance int) *resource.Dataplane {
	return meshPerfInstance(service, instance, 1<<16+instance, nil)
}

// MeshPerfScaled returns the service that the tests of mesh-perf scale: the first one that the first
// service with a call calls (test/k8s/simple_test.go at 418396d10d7b). Older tests scale the
// first service, which nothing calls.
func MeshPerfScaled(services int) int {
	for _, calls := range meshPerfGraph(MeshPerfSeed, services, meshPerfPercentEdges) {
		if len(calls) > 0 {
			return calls[0]
		}
	}
	return 0
}

func meshPerfInstance(service, instance, address int, calls []int) *resource.Dataplane {
	return graphInstance(service, instance, address, calls, MeshPerfService)
}

// graphInstance returns an instance of a service of a graph, by its number.
func graphInstance(service, instance, address int, calls []int, nameOf func(service int) string) *resource.Dataplane {
	name := nameOf(service)
	tags := map[string]string{
		resource.ServiceTag: name,
		"team":              Team(service), "version": "v1", resource.ZoneTag: fmt.Sprintf("zone-%d", service%4),
	}
	d := &resource.Dataplane{
		Meta: resource.Meta{
			ID:     resource.ID{Kind: resource.DataplaneKind, Mesh: Mesh, Name: fmt.Sprintf("%s-%d", name, instance)},
			Labels: resource.Tags{{Key: "app", Value: name}},
		},
		Address:  fmt.Sprintf("10.%d.%d.%d", address>>16&255, address>>8&255, address&255),
		Inbounds: []resource.Inbound{{Name: "main-port", Port: 80, Protocol: "http", Tags: resource.NewTags(tags)}},
	}
	for i, called := range calls {
		d.Outbounds = append(d.Outbounds, resource.Outbound{
			Address: "127.0.0.1", Port: uint32(10000 + i),
			Tags: resource.Tags{{Key: resource.ServiceTag, Value: nameOf(called)}},
		})
	}
	return d
}

// MeshPerfService is the name of service number i of the graph.
func MeshPerfService(i int) string { return fmt.Sprintf("srv-%03d", i) }

// meshPerfGraph yields the services with those that each of them calls, in order.
func meshPerfGraph(seed int64, services, percent int) iter.Seq2[int, []int] {
	return func(yield func(service int, calls []int) bool) {
		random := rand.New(rand.NewSource(seed)) // of math/rand, because a seed of math/rand/v2 gives other numbers
		for range services {
			random.Int() // chooses the number of instances; the tests allow one
		}
		for from := range services {
			var calls []int
			for distance := 1; from+distance < services; distance++ {
				if random.Int()%distance == 0 && random.Int()%100 < percent {
					calls = append(calls, from+distance)
				}
			}
			if !yield(from, calls) {
				return
			}
		}
	}
}

// MeshPerfRateLimit returns the policy that the tests of mesh-perf apply to the whole mesh
// while it runs: a number of requests a second for each inbound, 10,000 in the tests. Newer
// tests restrict it to sidecars (test/k8s/res_limits_test.go at 02657d916c19).
func MeshPerfRateLimit(requests uint32) *resource.Policy {
	rate := meshratelimit.Rate{Num: conf.Count(requests), Interval: conf.Duration(1e9)}
	status := conf.StatusCode(429)
	kind := meshratelimit.Kind()
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: Mesh, Name: "mesh-rate-limit"}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
		From: []resource.Item{{
			TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
			Conf: &meshratelimit.Conf{Local: &meshratelimit.Local{HTTP: &meshratelimit.HTTP{
				RequestRate: &rate, OnRateLimit: &meshratelimit.OnRateLimit{Status: &status},
			}}},
		}},
	}
}
