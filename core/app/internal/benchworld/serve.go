package benchworld

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/fleet"
	"github.com/meshmatch/meshmatch/core/app/internal/world"
	"github.com/meshmatch/meshmatch/core/internal/usage"
)

// serveOutputs are the forms of the answer of --serve.
var serveOutputs = []string{"table", "json"}

// fleetAnswer is what is measured with --serve.
type fleetAnswer struct {
	Fleets []*fleet.Report `json:"fleets"`
	Lines  []fleet.Line    `json:"lines,omitzero"`

	Start       time.Time `json:"start"`
	Commit      string    `json:"commit"`
	Machine     string    `json:"machine"`
	Environment string    `json:"environment"`
	LoadBefore  string    `json:"loadBefore"`
	LoadAfter   string    `json:"loadAfter"`
}

func (o *options) serve(ctx context.Context, shape world.Shape, show func(string, ...any), stdout, stderr io.Writer) error {
	a := fleetAnswer{Start: time.Now().UTC(), Commit: usage.Commit(), Machine: usage.Machine(), LoadBefore: usage.Load(), Environment: environment()}
	if o.maxMemory == 0 {
		o.maxMemory = fleet.AvailableMemory() * 0.9 / (1 << 30)
	}
	for _, n := range o.dataplanes { // before anything is measured
		if err := fleet.CheckMemory(n, o.maxMemory*(1<<30)); err != nil {
			return err
		}
	}
	for _, n := range o.dataplanes {
		one := o.measureApart
		if len(o.dataplanes) == 1 {
			one = o.measureFleet
		}
		report, err := one(ctx, shape, n, show, stderr)
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("stopped while a fleet of %d streams was measured", n)
		} else if err != nil {
			return err
		}
		a.Fleets = append(a.Fleets, report)
	}
	a.Lines, a.LoadAfter = fleet.Lines(a.Fleets), usage.Load()
	if o.output == "json" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(a)
	}
	return a.table(stdout)
}

func (o *options) measureFleet(ctx context.Context, shape world.Shape, streams int, show func(string, ...any), _ io.Writer) (*fleet.Report, error) {
	defer show("")
	with := fleet.Options{Shape: shape, Streams: streams, Relays: o.relays, Policies: o.policies, Outbounds: o.outbounds, Samples: o.samples, MaxMemory: o.maxMemory * (1 << 30)}
	return fleet.Measure(ctx, with, func(step string) { show("%d streams, %d relays: %s ...", streams, o.relays, step) })
}

// measureApart measures a fleet in a process of its own: memory that an earlier one has had would be
// a part of its figures.
func (o *options) measureApart(ctx context.Context, shape world.Shape, streams int, _ func(string, ...any), stderr io.Writer) (*fleet.Report, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := exec.CommandContext(ctx, program, "--serve", "-o", "json", "--shape", shape.Name, "--dataplanes", strconv.Itoa(streams),
		"--relays", strconv.Itoa(o.relays), "--policies", strconv.Itoa(o.policies), "--outbounds", strconv.Itoa(o.outbounds),
		"--samples", strconv.Itoa(o.samples), "--max-memory", fmt.Sprint(o.maxMemory))
	c.Args[0] = os.Args[0]
	c.Stdout, c.Stderr = &out, stderr
	if err := c.Run(); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("a fleet of %d streams was not measured: %w", streams, err)
	}
	var a fleetAnswer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return nil, err
	}
	return a.Fleets[0], nil
}

// value prints a figure of a line.
func value(l fleet.Line, v float64) string {
	if l.Unit == "B" {
		return byteSize(v)
	}
	return seconds(v)
}

func (a fleetAnswer) table(w io.Writer) error {
	p := newPage(w)
	for _, r := range a.Fleets {
		p.heading("%s: %d streams, %d relays, %d policies, in %s", r.Shape, r.Streams, r.Relays, r.Policies, seconds(r.Took))
		p.row("engine", byteSize(r.Engine), "of memory for each stream")
		p.row("resources", byteSize(r.Resources), "that proxies are served")
		p.row("stream", byteSize(r.Source), fmt.Sprintf("at the source, with its client; %s at a server that only reads", byteSize(r.Bare)))
		p.row("relay", byteSize(r.Relay), "in addition, for a stream through a relay")
		p.row("peak", byteSize(r.Peak), "of physical memory of the process")
		p.heading("steps")
		p.row("step", "reached", "median", "last", "CPU of the source", "relays", "clients", "runtime")
		for _, s := range r.Steps {
			p.row(s.Name, strconv.Itoa(s.Reached), seconds(s.Median), seconds(s.Last), seconds(s.CPU.Source), seconds(s.CPU.Relays), seconds(s.CPU.Clients), seconds(s.CPU.Runtime))
		}
	}
	if len(a.Lines) > 0 {
		p.heading("lines through these sizes")
		p.row("total", "each stream", "growth", "at 1,000,000 streams")
		for _, l := range a.Lines {
			p.row(l.Name, value(l, l.PerStream), fmt.Sprintf("%.2f", l.Growth), value(l, l.Million))
		}
	}
	return p.w.Flush()
}

// seconds prints three digits and a unit.
func seconds(s float64) string { return duration(time.Duration(s * float64(time.Second))) }

// byteSize prints three digits and a unit.
func byteSize(b float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b >= unit.size {
			return strconv.FormatFloat(b/unit.size, 'g', 3, 64) + " " + unit.name
		}
	}
	return fmt.Sprintf("%.0f B", b)
}

// environment returns the variables that matter.
func environment() string {
	var set []string
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if v, ok := os.LookupEnv(name); ok {
			set = append(set, name+"="+v)
		}
	}
	return strings.Join(set, " ")
}
