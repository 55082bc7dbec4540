package world

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Shape is a family of worlds.
type Shape struct {
	Name       string
	About      string
	dataplanes func(o *Options) []*resource.Dataplane
	policies   func(kind *resource.Kind, n int) []*resource.Policy
	objects    func(o *Options) []resource.Object                         // nil: none
	routes     func(kinds *resource.Kinds, o *Options) []*resource.Policy // nil: none
	semantics  semantics.Semantics
	// listed means that a dataplane reaches the destinations only to which it refers.
	listed bool
	// uneven means that dataplanes have different outbounds and a few have none. So a change
	// of outbounds concerns fewer dataplanes than it selects, and changes that need an
	// outbound to one of the first services are omitted.
	uneven bool
}

// Shapes returns the shapes, the most common one first.
func Shapes() []Shape {
	return slices.Concat([]Shape{
		{
			Name:       "fleet",
			About:      "policies for all dataplanes, for teams and for services; few classes of dataplanes",
			dataplanes: each(fleetDataplane),
			policies:   shape.Fleet,
		},
		{
			Name:       "clustered",
			About:      "many replicas of 2,000 services in versions and zones, and policies for all their combinations; thousands of classes",
			dataplanes: each(clusteredDataplane),
			policies:   clusteredPolicies,
		},
		{
			Name:       "shared-label",
			About:      "every policy requires one tag that every dataplane has, and one service",
			dataplanes: each(fleetDataplane),
			policies:   shape.SharedLabel,
		},
		{
			Name:       "transparent",
			About:      "transparent proxies of 50 namespaces as Kuma has them, one MeshService with two ports for 20 dataplanes, 200 external services, and policies of all roles",
			dataplanes: each(transparentDataplane),
			policies:   rolePolicies,
			objects:    destinations,
			semantics:  semantics.Kuma,
		},
		{
			Name:       "mesh-perf",
			About:      "the random service graph of Kong/mesh-perf, two instances of each service, and the policies of the fleet for its teams and zones; as many outbounds as the graph has",
			dataplanes: meshPerfDataplanes(2),
			policies:   graphPolicies(shape.MeshPerfService),
			uneven:     true,
		},
		{
			Name:       "mesh-perf-10",
			About:      "the same with ten instances of each service",
			dataplanes: meshPerfDataplanes(10),
			policies:   graphPolicies(shape.MeshPerfService),
			uneven:     true,
		},
		{
			Name:       "alibaba",
			About:      "services by the published shares of entries, middles and leaves of a deployment at Alibaba, with 16, 41 and 17 instances on average; 1,866,091 dataplanes are its size",
			dataplanes: alibabaDataplanes,
			policies:   graphPolicies(shape.AlibabaService),
			uneven:     true,
		},
		{
			Name:       "calico",
			About:      "the labels and selectors of Calico's benchmarks: every policy requires one of 29 labels",
			dataplanes: each(calicoDataplane),
			policies:   shape.Calico,
		},
	}, kumaShapes())
}

// each returns dataplanes that each depend on their number only.
func each(dataplane func(j int, o *Options) *resource.Dataplane) func(o *Options) []*resource.Dataplane {
	return func(o *Options) []*resource.Dataplane {
		list := make([]*resource.Dataplane, o.Dataplanes)
		for j := range list {
			list[j] = dataplane(j, o)
		}
		return list
	}
}

// The labels of the measured policies: a rack has 500 dataplanes of all teams, a
// cell 500 of one team.
const (
	rackLabel = "rack"
	cellLabel = "cell"
	cohort    = 500
	teams     = 50 // of shape.Team
)

func cell(j int) string { return fmt.Sprintf("c%d-%d", j%teams, j/teams/cohort) }

// labelled adds the labels that the measured policies select.
func labelled(d *resource.Dataplane, j int) *resource.Dataplane {
	d.Labels = resource.NewTags(map[string]string{
		"app": d.Labels.Value("app"), rackLabel: fmt.Sprintf("r%d", j/cohort), cellLabel: cell(j),
	})
	return d
}

func fleetDataplane(j int, o *Options) *resource.Dataplane {
	return labelled(shape.Dataplane(j, o.Outbounds), j)
}

const clusteredServices = 2_000

func clusteredDataplane(j int, o *Options) *resource.Dataplane {
	service, replica := j%clusteredServices, j/clusteredServices
	d := shape.Dataplane(service, o.Outbounds)
	d.Name = fmt.Sprintf("dp-%07d", j)
	d.Address = fmt.Sprintf("10.%d.%d.%d", j>>16&255, j>>8&255, j&255)
	for i := range d.Inbounds {
		for k := range d.Inbounds[i].Tags {
			switch tag := &d.Inbounds[i].Tags[k]; tag.Key {
			case "version":
				tag.Value = fmt.Sprintf("v%d", replica%3)
			case resource.ZoneTag:
				tag.Value = fmt.Sprintf("zone-%d", replica%4)
			}
		}
	}
	return labelled(d, j)
}

func clusteredPolicies(kind *resource.Kind, n int) []*resource.Policy {
	policies := shape.Fleet(kind, n)
	for i, p := range policies {
		service := shape.Service(i / 5 % clusteredServices)
		version := resource.Tags{{Key: "version", Value: fmt.Sprintf("v%d", i/5%3)}}
		switch i % 5 {
		case 0, 1:
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Name: service}
		case 2, 3:
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: service, Tags: version}
		case 4:
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(map[string]string{
				resource.ZoneTag: fmt.Sprintf("zone-%d", i/5%4), "team": shape.Team(i / 20),
			})}
		}
	}
	return policies
}
