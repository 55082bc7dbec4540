package fleet

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/world"
	"github.com/meshmatch/meshmatch/core/internal/usage"
)

// Options are the size of a fleet.
type Options struct {
	Shape                       world.Shape
	Streams                     int // and dataplanes, at least 1000
	Relays, Policies, Outbounds int
	Samples                     int // of each step that can be repeated
	// MaxMemory is the limit of the memory of the process, in bytes; 0: there is none.
	MaxMemory float64
}

// Report is the result for one size. Memory is the heap and the stacks after a collection, in
// bytes for each stream.
type Report struct {
	Shape    string `json:"shape"`
	Streams  int    `json:"streams"`
	Relays   int    `json:"relays"`
	Policies int    `json:"policies"`
	// Engine is the engine with its resources, Resources what proxies are served in addition.
	Engine    float64 `json:"engineBytes"`
	Resources float64 `json:"resourcesBytes"`
	// Bare is a stream of a server of gRPC that only reads, with its client. Source is a stream of
	// the source with its client; Relay is what a relay adds, in both of its directions.
	Bare   float64 `json:"bareBytes"`
	Source float64 `json:"sourceBytes"`
	Relay  float64 `json:"relayBytes"`
	Steps  []Step  `json:"steps"`
	// Peak is the most physical memory that the process has had, in bytes.
	Peak float64 `json:"peakResidentBytes"`
	Took float64 `json:"tookSeconds"`
}

// The names of steps.
const (
	ConnectSource = "connect all to the source"
	ConnectRelays = "connect all to relays"
	EditTeam      = "edit a policy of one team"
	EditAll       = "edit a policy of the whole mesh"
	Storm         = "all streams of a relay again"
	EmptyRelay    = "another relay without a cache"
	Renew         = "renew all certificates"
)

// Measure runs a fleet of one size, which should have a process of its own. It calls progress before
// each step.
func Measure(ctx context.Context, o Options, progress func(string)) (*Report, error) {
	if o.Streams < 1000 || o.Relays < 1 || o.Relays > o.Streams || o.Policies < 1 || o.Outbounds < 1 || o.Samples < 1 {
		return nil, fmt.Errorf("a fleet has at least 1000 streams, and at least 1 relay, policy, outbound and sample")
	}
	if err := CheckMemory(o.Streams, o.MaxMemory); err != nil {
		return nil, err
	}
	begin := time.Now()
	ctx, stop := guardMemory(ctx, o.MaxMemory)
	defer stop()
	r := &Report{Shape: o.Shape.Name, Streams: o.Streams, Relays: o.Relays, Policies: o.Policies}
	f := &run{Options: o, ctx: ctx, report: r, progress: progress}
	defer f.close()
	for _, part := range []func() error{f.build, f.bare, f.direct, f.relayed, f.edits, f.storms, f.renewals} {
		if err := part(); err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
	}
	r.Peak, r.Took = usage.PeakMemory("self"), time.Since(begin).Seconds()
	return r, nil
}

// run is a measurement in progress.
type run struct {
	Options
	ctx      context.Context
	report   *Report
	progress func(string)
	mesh     *mesh
	clients  *clientele
	source   *site
	relays   []*site
}

func (f *run) close() {
	if f.clients != nil {
		f.clients.close()
	}
	for _, s := range f.relays {
		s.close()
	}
	if f.source != nil {
		f.source.close()
	}
}

// perStream returns the memory that was added, and the memory now.
func (f *run) perStream(before float64) (added, now float64) {
	now = usage.Memory()
	return (now - before) / float64(f.Streams), now
}

func (f *run) build() (err error) {
	f.progress("building")
	empty := usage.Memory()
	if f.mesh, err = newMesh(f.ctx, f.Shape, f.Streams, f.Policies, f.Outbounds); err != nil {
		return err
	}
	f.clients = newClientele(f.mesh)
	f.mesh.publish()
	var before float64
	f.report.Engine, before = f.perStream(empty)
	f.progress("computing the resources of all proxies")
	answers, err := f.mesh.answers(f.ctx)
	if err != nil {
		return err
	}
	f.report.Resources, _ = f.perStream(before)
	runtime.KeepAlive(answers)
	return nil
}

// bare measures what streams and clients take at a server that only reads requests.
func (f *run) bare() error {
	f.progress("connecting to a bare server")
	answers, err := f.mesh.answers(f.ctx)
	if err != nil {
		return err
	}
	before := usage.Memory()
	s := startBare()
	defer s.close()
	f.clients.divide([]*site{s})
	defer f.clients.close()
	if err := f.clients.connect(f.clients.groups[0], answers); err != nil {
		return err
	}
	f.report.Bare, _ = f.perStream(before)
	runtime.KeepAlive(answers)
	return nil
}

// connectAll connects all groups, and records a step. It returns the memory of what was added.
func (f *run) connectAll(name string, sites []*site) (float64, error) {
	f.progress(name)
	answers, err := f.mesh.answers(f.ctx) // computed before, and kept
	if err != nil {
		return 0, err
	}
	before := usage.Memory()
	f.clients.divide(sites)
	var all []int
	for _, g := range f.clients.groups {
		all = append(all, g.members...)
	}
	step, err := f.clients.step(f.ctx, name, all, f.source, func() error {
		for _, g := range f.clients.groups {
			if err := f.clients.connect(g, answers); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	f.report.Steps = append(f.report.Steps, step)
	added, _ := f.perStream(before)
	runtime.KeepAlive(answers)
	return added, nil
}

func (f *run) direct() (err error) {
	f.source = startSource(f.mesh)
	f.report.Source, err = f.connectAll(ConnectSource, []*site{f.source})
	f.clients.close()
	f.source.close()
	f.source = nil
	return err
}

func (f *run) relayed() error {
	f.source = startSource(f.mesh)
	for range f.Relays {
		s, err := startRelay(f.source)
		if err != nil {
			return err
		}
		f.relays = append(f.relays, s)
	}
	with, err := f.connectAll(ConnectRelays, f.relays)
	f.report.Relay = with - f.report.Source
	return err
}

// repeat records the sample of a step with the median time.
func (f *run) repeat(name string, started []int, prepare func() (func() error, error)) error {
	var samples []Step
	for i := range f.Samples {
		f.progress(fmt.Sprintf("%s, %d of %d", name, i+1, f.Samples))
		do, err := prepare()
		if err != nil {
			return err
		}
		s, err := f.clients.step(f.ctx, name, started, f.source, do)
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	f.report.Steps = append(f.report.Steps, medianStep(samples))
	return nil
}

func (f *run) edits() error {
	for _, e := range []struct {
		name string
		edit func(context.Context, int) error
	}{{EditTeam, f.mesh.editTeam}, {EditAll, f.mesh.editAll}} {
		number := 0
		err := f.repeat(e.name, nil, func() (func() error, error) {
			number++
			return f.inSource(func() error { return e.edit(f.ctx, number) }), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inSource returns a function that edits the mesh and publishes it.
func (f *run) inSource(edit func() error) func() error {
	return func() (err error) {
		sourceRole.do(func() {
			if err = edit(); err == nil {
				f.mesh.publish()
			}
		})
		return err
	}
}

// storms ends all streams of the first relay, which connect again and ask for everything.
func (f *run) storms() error {
	g := f.clients.groups[0]
	for _, name := range []string{Storm, EmptyRelay} {
		err := f.repeat(name, g.members, func() (func() error, error) {
			answers, err := f.mesh.answers(f.ctx)
			if err != nil {
				return nil, err
			}
			f.clients.disconnect(g)
			if name == EmptyRelay {
				f.relays[0].close()
				if f.relays[0], err = startRelay(f.source); err != nil {
					return nil, err
				}
				g.at = f.relays[0]
			}
			return func() error { return f.clients.connect(g, answers) }, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *run) renewals() error {
	return f.repeat(Renew, nil, func() (func() error, error) {
		return f.inSource(func() error {
			f.mesh.renew()
			return nil
		}), nil
	})
}

// medianStep returns the one with the median time.
func medianStep(samples []Step) Step {
	slices.SortFunc(samples, func(a, b Step) int { return cmp.Compare(a.Last, b.Last) })
	return samples[len(samples)/2]
}
