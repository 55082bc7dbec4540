package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Destinations contains the cost of destinations that are resources (SPEC 17.3). All
// times are medians.
type Destinations struct {
	// Outbounds is the number of outbounds of a dataplane.
	Outbounds int `json:"outbounds"`
	// One is the time to select the policies of one kind for a dataplane and to merge the
	// conf of one outbound; All is the time for all outbounds. Each read is for a
	// dataplane of another namespace and team than the previous ones.
	One time.Duration `json:"oneNanoseconds"`
	All time.Duration `json:"allNanoseconds"`
	// AfterPolicy is the time of One for the first dataplane after a change of a policy.
	AfterPolicy time.Duration `json:"afterPolicyNanoseconds"`
	// AddService is the time of a commit that adds a service; NewOutbounds is the time
	// until a dataplane then has its outbounds, with the conf of one.
	// It is 0 if dataplanes only reach the destinations to which they refer.
	AddService   time.Duration `json:"addServiceNanoseconds"`
	NewOutbounds time.Duration `json:"newOutboundsNanoseconds,omitzero"`
	// RemoveEndpoint is the time of a commit that removes an endpoint of a service;
	// EndpointBytes is the time until the endpoints of the service are marshalled, once
	// for all dataplanes.
	RemoveEndpoint time.Duration `json:"removeEndpointNanoseconds"`
	EndpointBytes  time.Duration `json:"endpointBytesNanoseconds"`
	// Export is the time from the bytes of a YAML export of 30 objects to the first
	// answer.
	Export time.Duration `json:"exportNanoseconds"`
}

// measuredKind is the kind of the policies of a world whose options have none.
const measuredKind = "MeshTimeout"

// measured returns the kind of the policies of the world.
func (w *world) measured() *resource.Kind {
	if w.Kind != nil {
		return w.Kind
	}
	return w.kinds.Lookup(measuredKind)
}

func (w *world) measureDestinations(ctx context.Context) (*Destinations, error) {
	r := new(Destinations)
	for _, measure := range []func(context.Context, *Destinations) error{
		w.readDestinations, w.changePolicy, w.addServices, w.removeEndpoints, w.export,
	} {
		if err := measure(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readDestinations measures the confs of dataplanes of 200 classes.
func (w *world) readDestinations(_ context.Context, r *Destinations) error {
	const reads = 200
	view := w.engine.View()
	dataplanes := w.inView(view)
	one, all := make([]time.Duration, reads), make([]time.Duration, reads)
	read := func(i int) (outbounds []destination.Outbound, confs *destination.Confs, first results.OutboundConfig) {
		d := dataplanes[i*dataplanesPerService%len(dataplanes)]
		outbounds = view.DestinationOutbounds(d) // dataplanes share the list
		start := time.Now()
		confs = view.DestinationConfs(d, w.measured().Name, core.Enforced)
		first = confs.ConfigFor(&outbounds[len(outbounds)-1])
		one[i%reads] = time.Since(start)
		return outbounds, confs, first
	}
	read(reads) // the references of all policies are resolved
	for i := range reads {
		outbounds, confs, first := read(i)
		start := time.Now()
		configs := confs.All(outbounds)
		all[i] = one[i] + time.Since(start)
		if r.Outbounds = len(outbounds); len(configs) != len(outbounds) || first.Effective == nil {
			return fmt.Errorf("%d outbounds have %d confs", len(outbounds), len(configs))
		}
	}
	r.One, r.All = percentile(one, 50), percentile(all, 50)
	return nil
}

// changePolicy changes a policy for one dataplane. At the end the policy is removed.
func (w *world) changePolicy(ctx context.Context, r *Destinations) error {
	times := make([]time.Duration, w.Samples)
	d := w.set.Dataplanes[0]
	var policy core.Batch
	for i := range times {
		policy = w.policy("zz-destinations", resource.TargetRef{Kind: resource.TargetDataplane, Labels: d.Labels}, i)
		if _, err := w.engine.Apply(ctx, policy); err != nil {
			return err
		}
		view := w.engine.View()
		outbounds := view.DestinationOutbounds(d)
		start := time.Now()
		conf := view.DestinationConfs(d, w.measured().Name, core.Enforced).ConfigFor(&outbounds[0])
		times[i] = time.Since(start)
		if conf.Effective == nil {
			return fmt.Errorf("%s has no conf", d.Name)
		}
	}
	r.AfterPolicy = percentile(times, 50)
	_, err := w.engine.Apply(ctx, core.Batch{Delete: []resource.ID{policy.Upsert.Policies[0].ID}})
	return err
}

// addServices adds services with one port each.
func (w *world) addServices(ctx context.Context, r *Destinations) error {
	commits, reads := make([]time.Duration, w.Samples), make([]time.Duration, w.Samples)
	d := w.set.Dataplanes[0]
	for i := range commits {
		service := meshService(w.Dataplanes + i)
		service.Spec.Ports = service.Spec.Ports[:1]
		start := time.Now()
		if _, err := w.engine.Apply(ctx, core.Batch{Upsert: &resource.Set{Objects: []resource.Object{service}}}); err != nil {
			return err
		}
		middle := time.Now()
		if commits[i] = middle.Sub(start); w.Shape.listed {
			continue
		}
		view := w.engine.View()
		outbounds := view.DestinationOutbounds(d)
		at := slices.IndexFunc(outbounds, func(o destination.Outbound) bool { return o.Destination == service })
		if at < 0 || view.DestinationConfs(d, w.measured().Name, core.Enforced).ConfigFor(&outbounds[at]).Effective == nil {
			return fmt.Errorf("%s has no outbound to %s", d.Name, service.Name)
		}
		reads[i] = time.Since(middle)
	}
	r.AddService, r.NewOutbounds = percentile(commits, 50), percentile(reads, 50)
	return nil
}

// removeEndpoints removes dataplanes of one service and marshals its endpoints. The
// bytes are the same for all dataplanes that reach the service, so it marshals them
// for a dataplane that reaches no other service. At the end it adds the dataplanes
// again.
func (w *world) removeEndpoints(ctx context.Context, r *Destinations) error {
	copied := *w.set.Dataplanes[0]
	client := &copied
	client.Name, client.Inbounds, client.Outbounds = "client", nil, nil
	client.TransparentProxy = &resource.TransparentProxy{RedirectPortInbound: 15006, RedirectPortOutbound: 15001, ReachableBackends: []resource.BackendRef{{
		Kind: resource.TargetMeshService, Labels: resource.Tags{{Key: resource.DisplayNameLabel, Value: shape.Service(0)}},
	}}}
	if _, err := w.engine.Apply(ctx, core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{client}}}); err != nil {
		return err
	}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
	endpoints := func() *wire.Resource {
		s := builder.At(w.engine.View()).Snapshot(client, xds.Envoy)
		return slices.MaxFunc(s.Resources(wire.EndpointType), func(a, b *wire.Resource) int { return cmp.Compare(len(a.Body), len(b.Body)) })
	}
	before := endpoints()
	removed := w.set.Dataplanes[:dataplanesPerService-1]
	commits, bytes := make([]time.Duration, len(removed)), make([]time.Duration, len(removed))
	for i, d := range removed {
		start := time.Now()
		if _, err := w.engine.Apply(ctx, core.Batch{Delete: []resource.ID{d.ID}}); err != nil {
			return err
		}
		middle := time.Now()
		after := endpoints()
		commits[i], bytes[i] = middle.Sub(start), time.Since(middle)
		if len(after.Body) >= len(before.Body) {
			return fmt.Errorf("without %s, %s has %d bytes of endpoints, and before %d", d.Name, after.Name, len(after.Body), len(before.Body))
		}
		before = after
	}
	r.RemoveEndpoint, r.EndpointBytes = percentile(commits, 50), percentile(bytes, 50)
	_, err := w.engine.Apply(ctx, core.Batch{Upsert: &resource.Set{Dataplanes: removed}, Delete: []resource.ID{client.ID}})
	return err
}
