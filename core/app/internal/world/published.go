package world

import (
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

// meshPerfPolicies returns policies of the fleet. Half of them are for services of the graph
// by their label, because the services of the fleet are not in it.
func meshPerfPolicies(kind *resource.Kind, n int) []*resource.Policy {
	policies := shape.Fleet(kind, n)
	for i, p := range policies {
		if i%10 >= 4 {
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Name: shape.MeshPerfService(i / 10)}
		}
		if p.To[0].TargetRef.Kind == resource.TargetMeshService {
			p.To[0].TargetRef.Name = shape.MeshPerfService(i)
		}
	}
	return policies
}

func calicoDataplane(j int, o *Options) *resource.Dataplane {
	return labelled(shape.CalicoDataplane(j, o.Outbounds), j)
}
