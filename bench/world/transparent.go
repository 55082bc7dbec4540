package world

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

const (
	namespaces           = 50
	dataplanesPerService = 20
	externalServices     = 200
)

func namespace(i int) string { return fmt.Sprintf("ns-%d", i%namespaces) }

// inNamespace gives a resource a namespace, as one of Kubernetes has it.
func inNamespace(m *resource.Meta, name string, labels ...resource.Tag) {
	m.Namespace = name
	all := map[string]string{resource.NamespaceLabel: name}
	for _, label := range append(labels, m.Labels...) {
		all[label.Key] = label.Value
	}
	m.Labels = resource.NewTags(all)
}

// transparentDataplane is one of the fleet with a transparent proxy: it has an outbound
// for each port of each destination, in addition to those that it lists.
func transparentDataplane(j int, o *Options) *resource.Dataplane {
	d := fleetDataplane(j, o)
	d.TransparentProxy = &resource.TransparentProxy{RedirectPortInbound: 15006, RedirectPortOutbound: 15001}
	inNamespace(&d.Meta, namespace(j/dataplanesPerService))
	return d
}

// rolePolicies returns policies of operators, for teams and for all, and of the owners of workloads,
// producers and consumers of the namespaces.
func rolePolicies(kind *resource.Kind, n int) []*resource.Policy {
	policies := shape.Fleet(kind, n)
	for i, p := range policies {
		p.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
		switch {
		case i < teams:
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: "team", Value: shape.Team(i)}}}
			fallthrough
		case i%250 == 0:
			p.To[0].TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
			continue
		}
		service := i / 4
		p.To[0].TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Labels: resource.NewTags(map[string]string{
			resource.DisplayNameLabel: shape.Service(service), resource.NamespaceLabel: namespace(service),
		})}
		role := []string{"producer", "consumer", "consumer", "workload-owner"}[i%4]
		inNamespace(&p.Meta, namespace(service), resource.Tag{Key: resource.PolicyRoleLabel, Value: role})
	}
	return policies
}

// destinations returns the services of the dataplanes, and external ones.
func destinations(o *Options) []resource.Object {
	var objects []resource.Object
	for i := range max(1, o.Dataplanes/dataplanesPerService) {
		objects = append(objects, meshService(i))
	}
	for i := range externalServices {
		e := &resource.MeshExternalService{}
		e.ID = resource.ID{Kind: resource.MeshExternalServiceKind, Mesh: shape.Mesh, Name: fmt.Sprintf("external-%d", i)}
		e.Spec.Match.Port = 443
		e.DestinationStatus.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{242, 0, byte(i >> 8), byte(i)})}
		objects = append(objects, e)
	}
	return objects
}

func meshService(i int) *resource.MeshService {
	s := &resource.MeshService{}
	s.ID = resource.ID{Kind: resource.MeshServiceKind, Mesh: shape.Mesh, Name: shape.Service(i)}
	s.Spec.Ports = []resource.ServicePort{{Port: 80, Name: "http", AppProtocol: "http"}, {Port: 81}}
	s.DestinationStatus.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{241, byte(i >> 16), byte(i >> 8), byte(i)})}
	inNamespace(&s.Meta, namespace(i))
	return s
}

// readDestinations returns the time to select and merge the confs of all outbounds of one
// dataplane by the policies of one kind, and their number. Each read is of a dataplane of
// another namespace than the one before.
func (w *world) readDestinations() (time.Duration, int, error) {
	const reads = 200
	view := w.engine.View()
	times := make([]time.Duration, reads)
	outbounds := 0
	for i := range times {
		d := w.set.Dataplanes[i*dataplanesPerService%len(w.set.Dataplanes)]
		outbounds = len(view.DestinationOutbounds(d)) // dataplanes share the list
		start := time.Now()
		confs := view.DestinationConfs(d, "MeshTimeout", core.Enforced)
		times[i] = time.Since(start)
		if outbounds == 0 || len(confs) != outbounds || confs[0].Effective == nil {
			return 0, 0, fmt.Errorf("%s has %d outbounds and %d confs", d.Name, outbounds, len(confs))
		}
	}
	return percentile(times, 50), outbounds, nil
}

// addService returns the time until a service that is added is an outbound of a
// dataplane: that of the commit, and that of the first read of the dataplane's outbounds.
func (w *world) addService(ctx context.Context) (commit, read time.Duration, err error) {
	commits, reads := make([]time.Duration, w.Samples), make([]time.Duration, w.Samples)
	for i := range commits {
		set := &resource.Set{Objects: []resource.Object{meshService(w.Dataplanes + i)}}
		start := time.Now()
		if _, err := w.engine.Apply(ctx, core.Batch{Upsert: set}); err != nil {
			return 0, 0, err
		}
		middle := time.Now()
		if len(w.engine.View().DestinationOutbounds(w.set.Dataplanes[0])) == 0 {
			return 0, 0, fmt.Errorf("%s has no outbounds", w.set.Dataplanes[0].Name)
		}
		commits[i], reads[i] = middle.Sub(start), time.Since(middle)
	}
	return percentile(commits, 50), percentile(reads, 50), nil
}
