package world

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Options contains the shape and the size of a world, and selects the
// measurements.
type Options struct {
	// Kind is the kind of the policies, which have items of to, and policy number i has the conf
	// Conf(i), which no other number has. Nil: MeshTimeout, with confs of package shape.
	Kind       *resource.Kind
	Conf       func(i int) resource.Conf
	Shape      Shape
	Dataplanes int // at least 500
	Policies   int // at least 1
	Outbounds  int // per dataplane, at least 1
	// Samples is the number of times that each change is applied, at least 1.
	// It is limited to the number of dataplanes and, for a change of all
	// dataplanes, to a tenth of the samples.
	Samples int
	// Files means that loading from files is also measured, and that the loaded
	// resources are used.
	Files bool
}

func (o *Options) validate() error {
	if o.Dataplanes < cohort {
		return fmt.Errorf("%d dataplanes are too few; the minimum is %d", o.Dataplanes, cohort)
	}
	if o.Policies < 1 || o.Outbounds < 1 || o.Samples < 1 {
		return fmt.Errorf("%d policies, %d outbounds and %d samples; the minimum is 1 of each", o.Policies, o.Outbounds, o.Samples)
	}
	return nil
}

// Report is the result for one world. Times are in nanoseconds.
type Report struct {
	Shape string     `json:"shape"`
	Sizes core.Sizes `json:"sizes"`
	// Load is the time from JSON files of FileBytes bytes to decoded and
	// validated resources. Loaded is the heap that these take, in bytes per
	// dataplane. They are 0 without [Options.Files].
	Load      time.Duration `json:"loadNanoseconds,omitzero"`
	FileBytes int           `json:"fileBytes,omitzero"`
	Loaded    float64       `json:"loadedBytesPerDataplane,omitzero"`
	// Build is the time from decoded resources to the first view.
	Build time.Duration `json:"buildNanoseconds"`
	// Heap is the memory of the engine and its view in addition to the resources.
	// Resources is the memory of the resources before they are loaded from files.
	// Both are in bytes per dataplane.
	Heap      float64 `json:"heapBytesPerDataplane"`
	Resources float64 `json:"resourceBytesPerDataplane"`
	// Resident is the physical memory of the process after the first view was built
	// and unused memory was returned, in bytes; 0 if the system does not report it.
	Resident int64 `json:"residentBytes,omitzero"`
	// Read is the time of reading one dataplane's effective confs from a view, always
	// of the same dataplane. For ReadCold each read is of another dataplane, and
	// consecutive dataplanes are far apart in memory.
	Read     time.Duration `json:"readNanoseconds"`
	ReadCold time.Duration `json:"coldReadNanoseconds"`
	// ReadAllocs is the number of allocations of 2,000 cold reads.
	ReadAllocs uint64 `json:"readAllocations"`
	// Destinations is nil for a shape without destinations.
	Destinations *Destinations `json:"destinations,omitzero"`
	Changes      []Row         `json:"changes"`
}

// Row is one kind of change.
type Row struct {
	Change string `json:"change"`
	// Touched is the number of dataplanes that one commit changes, on average.
	Touched float64       `json:"dataplanes"`
	Samples int           `json:"samples"`
	Least   time.Duration `json:"leastNanoseconds"`
	P50     time.Duration `json:"p50Nanoseconds"`
	P99     time.Duration `json:"p99Nanoseconds"`
	// Compare is the p50 of the time to determine what the commit changed.
	Compare time.Duration `json:"compareNanoseconds"`
	// Fixed reports whether the change touches the same number of dataplanes in a
	// world of any size.
	Fixed bool `json:"fixed"`
}

// Measure builds a world and changes it. The report omits changes that need a larger
// world. Measure calls progress before each step. It returns an error if the options
// are invalid, if a commit did not touch the intended number of dataplanes, or if ctx
// has ended.
func Measure(ctx context.Context, o Options, progress func(string)) (*Report, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	progress("making resources")
	empty := usage.Heap()
	w := newWorld(o)
	resources := usage.Heap()
	r := &Report{Shape: o.Shape.Name, Resources: (resources - empty) / float64(o.Dataplanes)}
	if o.Files {
		progress("loading files")
		if err := w.loadFiles(ctx, r); err != nil {
			return nil, err
		}
		resources = usage.Heap()
	}
	progress("building")
	start := time.Now()
	if _, err := w.engine.Apply(ctx, core.Batch{Upsert: w.set}); err != nil {
		return nil, err
	}
	r.Build, r.Sizes = time.Since(start), w.engine.Sizes()
	r.Heap = (usage.Heap() - resources) / float64(o.Dataplanes)
	r.Resident = resident()
	progress("reading")
	var err error
	if r.Read, _, err = w.read([]int{0}); err != nil {
		return nil, err
	}
	if r.ReadCold, r.ReadAllocs, err = w.read(w.shuffled); err != nil {
		return nil, err
	}
	if o.Shape.objects != nil {
		progress("destinations")
		if r.Destinations, err = w.measureDestinations(ctx); err != nil {
			return nil, fmt.Errorf("destinations: %w", err)
		}
	}
	for _, c := range changes() {
		if c.needs > o.Dataplanes || c.even && o.Shape.uneven {
			continue
		}
		progress(c.name)
		row, err := w.sample(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		r.Changes = append(r.Changes, row)
	}
	return r, nil
}

// world is a world under measurement.
type world struct {
	Options
	kinds    *resource.Kinds
	set      *resource.Set
	engine   *core.Engine
	shuffled []int // the numbers of the dataplanes; consecutive ones are far apart in memory
}

func newWorld(o Options) *world {
	w := &world{Options: o, shuffled: rand.New(rand.NewPCG(1, 1)).Perm(o.Dataplanes)}
	w.kinds, w.set = o.resources()
	w.engine = core.NewEngine(w.kinds, core.Options{Semantics: o.Shape.Semantics()})
	return w
}

// resources makes the resources of the world, with the kinds that they need.
func (o *Options) resources() (*resource.Kinds, *resource.Set) {
	all, set := kinds.All(), new(resource.Set)
	if o.Kind != nil {
		all = resource.NewKinds(append(kinds.BuiltIn(), o.Kind)...)
	}
	set.Dataplanes = o.Shape.dataplanes(o)
	set.Policies = o.Shape.policies(cmp.Or(o.Kind, all.Lookup(measuredKind)), o.Policies)
	if o.Kind != nil {
		for i, p := range set.Policies {
			for j := range p.To {
				p.To[j].Conf = o.Conf(i)
			}
		}
	}
	if o.Shape.objects != nil {
		set.Objects = o.Shape.objects(o)
	}
	if o.Shape.routes != nil {
		set.Policies = append(set.Policies, o.Shape.routes(all, o)...)
	}
	return all, set
}

// Resources returns the resources of a world whose policies are MeshTimeouts, for measurements
// of other packages.
func (s Shape) Resources(dataplanes, policies, outbounds int) *resource.Set {
	o := Options{Shape: s, Dataplanes: dataplanes, Policies: policies, Outbounds: outbounds}
	_, set := o.resources()
	return set
}

// Semantics returns how the policies of the shape select.
func (s Shape) Semantics() semantics.Semantics { return cmp.Or(s.semantics, core.TargetRef) }

// resident returns the physical memory of the process, in bytes, on Linux, and 0
// on other systems.
func resident() int64 {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(status), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// inView returns the dataplanes of the set as the view has them: it may have completed
// them (SPEC 17.3).
func (w *world) inView(view *core.View) []*resource.Dataplane {
	dataplanes := make([]*resource.Dataplane, len(w.set.Dataplanes))
	for i, d := range w.set.Dataplanes {
		dataplanes[i] = view.Dataplane(d.ID)
	}
	return dataplanes
}

// read repeatedly reads the effective confs of the dataplanes with the given numbers. It
// returns the time of one read, as the median over batches, and the allocations of a
// batch.
func (w *world) read(numbers []int) (time.Duration, uint64, error) {
	const batches, reads = 200, 2_000
	view := w.engine.View()
	dataplanes := w.inView(view)
	times := make([]time.Duration, batches)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, next := 0, 0
	for i := range times {
		start := time.Now()
		for range reads {
			found += len(view.Configs(dataplanes[numbers[next]], core.Enforced))
			if next++; next == len(numbers) {
				next = 0
			}
		}
		times[i] = time.Since(start) / reads
	}
	runtime.ReadMemStats(&after)
	if found == 0 {
		return 0, 0, fmt.Errorf("%d reads found nothing", batches*reads)
	}
	return percentile(times, 50), (after.Mallocs - before.Mallocs) / batches, nil
}
