package shape

import (
	"fmt"
	"maps"

	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Mesh is the mesh of every resource in this package.
const Mesh = "default"

// Dataplane returns dataplane number j of the fleet, with two inbounds and
// outbounds to the given number of services.
func Dataplane(j, outbounds int) *resource.Dataplane {
	service := Service(j)
	shared := map[string]string{"team": Team(j), "version": "v1", resource.ZoneTag: fmt.Sprintf("zone-%d", j%4)}
	tags := func(service string) resource.Tags {
		m := map[string]string{resource.ServiceTag: service}
		maps.Copy(m, shared)
		return resource.NewTags(m)
	}
	d := &resource.Dataplane{
		Meta: resource.Meta{
			ID:     resource.ID{Kind: resource.DataplaneKind, Mesh: Mesh, Name: fmt.Sprintf("dp-%06d", j)},
			Labels: resource.Tags{{Key: "app", Value: service}},
		},
		Address: fmt.Sprintf("10.%d.%d.%d", j>>16&255, j>>8&255, j&255),
		Inbounds: []resource.Inbound{
			{Name: "main-port", Port: 80, Protocol: "http", Tags: tags(service)},
			{Name: "admin-port", Port: 81, Tags: tags(service + "-admin")},
		},
	}
	for i := range outbounds {
		d.Outbounds = append(d.Outbounds, outbound(i))
	}
	return d
}

// outbound returns an outbound to service number i.
func outbound(i int) resource.Outbound {
	return resource.Outbound{
		Address: "127.0.0.1", Port: uint32(10000 + i),
		Tags: resource.Tags{{Key: resource.ServiceTag, Value: Service(i)}},
	}
}

// Service is the name of service number i.
func Service(i int) string { return fmt.Sprintf("svc-%d", i) }

// Team is the team of dataplane number i, one of fifty.
func Team(i int) string { return fmt.Sprintf("t%d", i%50) }

// Fleet returns n policies of the kind MeshTimeout. Of 100, 1,000 and 10,000 of them,
// 19, 112 and 1,090 select dataplane 7.
func Fleet(kind *resource.Kind, n int) []*resource.Policy { return policies(kind, n, fleetTarget) }

func fleetTarget(i int) resource.TargetRef {
	g := i / 10
	service := Service(g % 200)
	switch i % 10 {
	case 0:
		return resource.TargetRef{Kind: resource.TargetMesh}
	case 1, 2, 3:
		return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: "team", Value: Team(g)}}}
	case 4, 5, 6, 7:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: service}
	case 8:
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: service, Tags: resource.Tags{{Key: "version", Value: "v1"}}}
	}
	target := resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: "app", Value: service}}}
	if g%2 == 0 {
		target.SectionName = "main-port"
	}
	return target
}

// Sparse returns n policies; about seven of them select any one dataplane.
func Sparse(kind *resource.Kind, n int) []*resource.Policy {
	return policies(kind, n, func(i int) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: Service(i % max(1, n/7))}
	})
}

// SharedLabel is [Sparse] with one tag that every selector requires and every
// dataplane has.
func SharedLabel(kind *resource.Kind, n int) []*resource.Policy {
	return policies(kind, n, func(i int) resource.TargetRef {
		return resource.TargetRef{
			Kind: resource.TargetMeshServiceSubset, Name: Service(i % max(1, n/7)),
			Tags: resource.Tags{{Key: "version", Value: "v1"}},
		}
	})
}

func policies(kind *resource.Kind, n int, target func(i int) resource.TargetRef) []*resource.Policy {
	list := make([]*resource.Policy, n)
	for i := range list {
		list[i] = policy(kind, i, target(i))
	}
	return list
}

// policy returns policy number i. It has one `to` item: for every service if i is
// divisible by 4, otherwise for one of a hundred services.
func policy(kind *resource.Kind, i int, target resource.TargetRef) *resource.Policy {
	to := resource.TargetRef{Kind: resource.TargetMesh}
	if i%4 != 0 {
		to = resource.TargetRef{Kind: resource.TargetMeshService, Name: Service(i % 100)}
	}
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: Mesh, Name: fmt.Sprintf("policy-%06d", i)}},
		Type:      kind,
		TargetRef: target,
		To:        []resource.Item{{TargetRef: to, Conf: Timeout(i)}},
	}
}

// Timeout returns the conf of policy number i, which sets two to four fields.
func Timeout(i int) *meshtimeout.Conf {
	c := &meshtimeout.Conf{ConnectionTimeout: seconds(1 + i%7), HTTP: &meshtimeout.HTTP{}}
	if i%2 == 0 {
		c.IdleTimeout = seconds(60 + i%5)
	}
	switch i % 3 {
	case 0:
		c.HTTP.RequestTimeout = seconds(10 + i%11)
	case 1:
		c.HTTP.StreamIdleTimeout = seconds(20 + i%13)
	case 2:
		c.HTTP.RequestTimeout, c.HTTP.MaxStreamDuration = seconds(10+i%11), seconds(30+i%17)
	}
	return c
}
