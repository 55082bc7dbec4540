package world

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// meshPerfDataplanes returns the graph of mesh-perf with a number of instances of each service;
// its tests have two.
func meshPerfDataplanes(instances int) func(o *Options) []*resource.Dataplane {
	return func(o *Options) []*resource.Dataplane {
		list := shape.MeshPerf((o.Dataplanes+instances-1)/instances, instances)[:o.Dataplanes]
		for j, d := range list {
			labelled(d, j)
		}
		return slices.Clip(list)
	}
}

// graphPolicies returns policies of the fleet. Half of them are for services of a graph
// by their label, because the services of the fleet are not in it.
func graphPolicies(nameOf func(service int) string) func(kind *resource.Kind, n int) []*resource.Policy {
	return func(kind *resource.Kind, n int) []*resource.Policy {
		policies := shape.Fleet(kind, n)
		for i, p := range policies {
			if i%10 >= 4 {
				p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Name: nameOf(i / 10)}
			}
			if p.To[0].TargetRef.Kind == resource.TargetMeshService {
				p.To[0].TargetRef.Name = nameOf(i)
			}
		}
		return policies
	}
}

// alibabaStores is how many stores the leaves call. The study does not count them.
const alibabaStores = 100

func alibabaDataplanes(o *Options) []*resource.Dataplane {
	list := shape.Alibaba(o.Dataplanes, o.Outbounds)
	for j, d := range list {
		if len(d.Outbounds) == 0 {
			store := fmt.Sprintf("store-%d", j%alibabaStores)
			d.Outbounds = []resource.Outbound{{Address: "127.0.0.1", Port: 10000, Tags: resource.Tags{{Key: resource.ServiceTag, Value: store}}}}
		}
		labelled(d, j)
	}
	return list
}

func calicoDataplane(j int, o *Options) *resource.Dataplane {
	return labelled(shape.CalicoDataplane(j, o.Outbounds), j)
}
