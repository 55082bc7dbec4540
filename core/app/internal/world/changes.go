package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/resource"
)

// change is a kind of change. It makes a batch for each round, counted from 1. The
// batch must differ from the last applied batch, which is the batch of the
// previous round, of setup or of revert.
type change struct {
	name  string
	fixed bool // it touches the same number of dataplanes in a world of any size
	all   bool // it touches all dataplanes, so there are fewer rounds
	once  bool // it cannot be repeated more often than there are dataplanes
	even  bool // it needs dataplanes that all have outbounds to the first services
	needs int  // the minimum number of dataplanes in the world
	setup func(*world) core.Batch
	// revert is applied before each round and is not measured; may be nil.
	revert func(*world) core.Batch
	batch  func(w *world, round int) core.Batch
	// touches returns the range of the number of dataplanes that each commit
	// must change.
	touches func(*world) (least, most int)
}

func exactly(n int) func(*world) (least, most int) {
	return func(*world) (int, int) { return n, n }
}

func allDataplanes(w *world) (least, most int) { return w.Dataplanes, w.Dataplanes }

// churned is the range for a batch of churn: at least the dataplanes that it
// changes itself, and at most all, because its policies select others.
func churned(w *world) (least, most int) { return churnDataplanes, w.Dataplanes }

func changes() []change {
	rack := resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: rackLabel, Value: "r1"}}}
	oneTeam := resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: cellLabel, Value: cell(7)}}}
	all := resource.TargetRef{Kind: resource.TargetMesh}
	replace := func(target resource.TargetRef) func(*world, int) core.Batch {
		return func(w *world, round int) core.Batch { return w.policy("zz-measured", target, round) }
	}
	setup := func(target resource.TargetRef) func(*world) core.Batch {
		return func(w *world) core.Batch { return w.policy("zz-measured", target, 0) }
	}
	byName := func(w *world, round int) core.Batch {
		d := w.dataplaneOfRound(round)
		batch := w.policy("zz-measured", resource.TargetRef{Kind: resource.TargetDataplane, Name: d.Name, Namespace: d.Namespace}, round)
		if zone := d.Labels.Value(resource.ZoneTag); zone != "" { // in Kuma a name is one of the policy's zone
			batch.Upsert.Policies[0].Labels = resource.Tags{{Key: resource.ZoneTag, Value: zone}}
		}
		return batch
	}
	return []change{
		{
			name: "replace a policy for 500 dataplanes of one team", fixed: true, needs: cohort * teams,
			setup: setup(oneTeam), batch: replace(oneTeam), touches: exactly(cohort),
		},
		{
			name: "replace a policy for 500 dataplanes of 50 teams", fixed: true, needs: 2 * cohort,
			setup: setup(rack), batch: replace(rack), touches: exactly(cohort),
		},
		{
			name: "replace a policy for all dataplanes", all: true,
			setup: setup(all), batch: replace(all), touches: allDataplanes,
		},
		{
			name: "a rate limit of the whole mesh changes", all: true,
			setup: func(w *world) core.Batch { return rateLimit(w, 0) }, batch: rateLimit, touches: allDataplanes,
		},
		{
			name: "a policy for one more dataplane by name", fixed: true,
			setup:   func(w *world) core.Batch { return byName(w, 0) },
			batch:   byName,
			touches: exactly(2), // the dataplane of the previous round loses the policy
		},
		{name: "relabel a dataplane", fixed: true, batch: (*world).relabel, touches: exactly(1)},
		{
			name: "a dataplane leaves", fixed: true, once: true, touches: exactly(1),
			batch: func(w *world, round int) core.Batch {
				return core.Batch{Delete: []resource.ID{w.dataplaneOfRound(round).ID}}
			},
		},
		{
			name: "a dataplane joins", fixed: true, once: true, touches: exactly(1),
			batch: func(w *world, round int) core.Batch {
				return core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{w.dataplaneOfRound(round)}}}
			},
		},
		{
			name: "a route of 500 dataplanes changes", fixed: true, even: true, needs: 2 * cohort,
			setup: (*world).route, batch: (*world).reroute, touches: exactly(cohort),
		},
		{
			name: "a canary placement moves 1,000 dataplanes to enforce", fixed: true, needs: 3 * cohort,
			setup: (*world).canary, revert: nowhere, batch: onTwoRacks, touches: exactly(canaryDataplanes),
		},
		{
			name: "a canary placement moves 1,000 dataplanes to inform", fixed: true, needs: 3 * cohort,
			setup: (*world).canary, revert: func(w *world) core.Batch { return onTwoRacks(w, 0) },
			batch: func(w *world, _ int) core.Batch { return nowhere(w) }, touches: exactly(canaryDataplanes),
		},
		{name: "churn: 100 changes in one batch", once: true, setup: withoutCanary, batch: (*world).churn, touches: churned},
	}
}

// sample applies a change once per round, each time to a different dataplane.
func (w *world) sample(ctx context.Context, c change) (Row, error) {
	if c.setup != nil {
		if _, err := w.engine.Apply(ctx, c.setup(w)); err != nil {
			return Row{}, err
		}
	}
	least, most := c.touches(w)
	if w.Shape.uneven {
		least /= 2
	}
	rounds := min(w.Samples, w.Dataplanes)
	if c.all {
		rounds = max(1, rounds/10)
	}
	row := Row{Change: c.name, Samples: rounds, Fixed: c.fixed}
	var applied, compared []time.Duration
	for round := 1; round <= rounds; round++ {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		if c.revert != nil {
			if _, err := w.engine.Apply(ctx, c.revert(w)); err != nil {
				return row, err
			}
		}
		batch := c.batch(w, round)
		start := time.Now()
		commit, err := w.engine.Apply(ctx, batch)
		middle := time.Now()
		if err != nil {
			return row, err
		}
		touched := 0
		for _, change := range commit.Changes() {
			touched += change.Len()
		}
		applied, compared = append(applied, middle.Sub(start)), append(compared, time.Since(middle))
		row.Touched += float64(touched) / float64(rounds)
		if w.Kind != nil {
			least = 0 // other policies may override the changed fields
		}
		if touched < least || touched > most {
			return row, fmt.Errorf("round %d touched %d dataplanes, not %d to %d", round, touched, least, most)
		}
	}
	row.Least, row.P50, row.P99 = slices.Min(applied), percentile(applied, 50), percentile(applied, 99)
	row.Compare = percentile(compared, 50)
	return row, nil
}

// percentile sorts times and returns the smallest time that p percent of them
// do not exceed.
func percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	return times[(len(times)*p+99)/100-1]
}

// dataplaneOfRound returns the dataplane of a round; consecutive rounds have different ones.
func (w *world) dataplaneOfRound(round int) *resource.Dataplane {
	return w.set.Dataplanes[w.number(round)]
}

func (w *world) number(round int) int { return w.shuffled[round%w.Dataplanes] }

func (w *world) policy(name string, target resource.TargetRef, round int) core.Batch {
	kind := w.measured()
	return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: name}},
		Type:      kind,
		TargetRef: target,
		To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: w.changedConf(round)}},
	}}}}
}

// changedConf returns a conf that no other policy has, so the merged conf always changes.
func (w *world) changedConf(round int) resource.Conf {
	if w.Kind != nil {
		return w.Conf(len(w.set.Policies) + 1 + round)
	}
	timeout := shape.Timeout(round)
	seconds := conf.Duration(time.Duration(1+round) * time.Second)
	timeout.HTTP.MaxConnectionDuration = &seconds // no other policy sets it
	return timeout
}

// rateLimit changes the policy that mesh-perf's tests apply to the whole mesh.
func rateLimit(_ *world, round int) core.Batch {
	return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{shape.MeshPerfRateLimit(uint32(10_000 + round))}}}
}

// relabel moves a dataplane to another team.
func (w *world) relabel(round int) core.Batch {
	d := *w.dataplaneOfRound(round)
	another := shape.Team(round)
	if d.Inbounds[0].Tags.Value("team") == another {
		another = shape.Team(round + 1)
	}
	d.Inbounds = slices.Clone(d.Inbounds)
	for i := range d.Inbounds {
		tags := slices.Clone(d.Inbounds[i].Tags)
		for k := range tags {
			if tags[k].Key == "team" {
				tags[k].Value = another
			}
		}
		d.Inbounds[i].Tags = tags
	}
	return core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{&d}}}
}

// route makes a route for 500 dataplanes, and a policy that is attached to it.
func (w *world) route() core.Batch {
	b := w.policy("zz-attached", resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "measured"}, 1)
	b.Upsert.Policies = append(b.Upsert.Policies, w.reroute(0).Upsert.Policies...)
	return b
}

// reroute changes the services of the route, alternately to services that the
// outbounds have and, without destinations, to a service that they do not have.
func (w *world) reroute(round int) core.Batch {
	kind := w.kinds.Lookup(resource.TargetMeshHTTPRoute.String())
	route := &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "measured"}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: rackLabel, Value: "r1"}}},
	}
	for _, service := range w.routedServices(round) {
		route.To = append(route.To, resource.Item{TargetRef: service, Conf: &meshhttproute.Conf{Rules: []meshhttproute.Rule{}}})
	}
	return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{route}}}
}

// routedServices returns references to services that differ in consecutive rounds. Each
// dataplane of the rack has an outbound to a service of two of three consecutive rounds.
// A dataplane that lists its destinations has few services, so there the references
// find one service of each dataplane of the rack.
func (w *world) routedServices(round int) []resource.TargetRef {
	if w.Shape.objects == nil {
		return []resource.TargetRef{{Kind: resource.TargetMeshService, Name: shape.Service(round % (w.Outbounds + 1))}}
	}
	if !w.Shape.listed {
		return []resource.TargetRef{w.destination(round % services(&w.Options))}
	}
	var refs []resource.TargetRef
	for j := cohort; j < 2*cohort; j += dataplanesPerService {
		refs = append(refs, w.destination(neighbour(j, round%w.Outbounds, &w.Options)))
	}
	return refs
}

// destination returns a reference to a MeshService of the world, by its labels.
func (w *world) destination(service int) resource.TargetRef {
	labels := serviceLabels(service)
	if w.set.Dataplanes[0].Namespace == "" {
		labels = withoutNamespace(labels)
	}
	return resource.TargetRef{Kind: resource.TargetMeshService, Labels: labels}
}

// The numbers of dataplanes and of policies in a batch of churn.
const churnDataplanes, churnPolicies = 90, 10

// churn makes many small changes in one batch: dataplanes get another address
// or are deleted and created again, and policies for one service each change.
func (w *world) churn(round int) core.Batch {
	b := core.Batch{Upsert: &resource.Set{}}
	random := rand.New(rand.NewPCG(uint64(round), 7))
	taken := map[int]bool{}
	for len(taken) < churnDataplanes {
		j := random.IntN(w.Dataplanes)
		if taken[j] {
			continue
		}
		taken[j] = true
		d := w.set.Dataplanes[j]
		switch {
		case w.engine.View().Dataplane(d.ID) == nil:
			b.Upsert.Dataplanes = append(b.Upsert.Dataplanes, d)
		case random.IntN(3) == 0:
			b.Delete = append(b.Delete, d.ID)
		default:
			moved := *d
			moved.Address = fmt.Sprintf("10.98.%d.%d", random.IntN(256), random.IntN(256))
			b.Upsert.Dataplanes = append(b.Upsert.Dataplanes, &moved)
		}
	}
	for i := range churnPolicies {
		policy := w.policy(fmt.Sprintf("zz-churn-%d", i), resource.TargetRef{Kind: resource.TargetMeshService, Name: shape.Service(random.IntN(200))}, round)
		b.Upsert.Policies = append(b.Upsert.Policies, policy.Upsert.Policies...)
	}
	return b
}
