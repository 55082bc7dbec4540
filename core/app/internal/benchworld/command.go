package benchworld

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/meshmatch/meshmatch/core/app/internal/world"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Main runs the command and exits. The policies of the worlds are of a kind with `to`, and policy
// number i has the conf of number i; a nil kind is MeshTimeout. Step shows what is measured, and "" at
// the end.
func Main(kind *resource.Kind, conf func(i int) resource.Conf, step func(format string, args ...any)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, kind, conf, step, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "benchworld: "+err.Error())
		}
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	shape      string
	dataplanes sizes
	policies   int
	outbounds  int
	samples    int
	files      bool
	maxSlope   float64
	output     string
	isServe    bool
	relays     int
	maxMemory  float64 // GiB; 0: most of what is available
}

// sizes is a flag with numbers, separated by commas.
type sizes []int

func (s *sizes) String() string { return strings.Trim(fmt.Sprint(*s), "[]") }

// Set reads the numbers.
func (s *sizes) Set(text string) error {
	*s = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return errors.New("write numbers, separated by commas")
		}
		*s = append(*s, n)
	}
	return nil
}

//
//go:embed about.txt
var about string

var outputs = []string{"table", "json", "bench"}

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	flags := flag.NewFlagSet("benchworld", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "%s\nShapes:\n", about)
		for _, s := range world.Shapes() {
			fmt.Fprintf(stderr, "  %-12s  %s\n", s.Name, s.About)
		}
		fmt.Fprintln(stderr, "\nFlags:")
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.isServe, "serve", false, "serve the world through relays")
	flags.IntVar(&o.relays, "relays", 10, "how many relays --serve has")
	flags.Float64Var(&o.maxMemory, "max-memory", 0, "the most physical memory of --serve, in GiB; 0: nine tenths of what is available")
	flags.StringVar(&o.shape, "shape", "", "the shape of the world (default fleet; with --serve mesh-perf-10)")
	flags.Var(&o.dataplanes, "dataplanes", "how many dataplanes, in each world (default 100000; with --serve 2000,10000)")
	flags.IntVar(&o.policies, "policies", 10_000, "how many policies")
	flags.IntVar(&o.outbounds, "outbounds", 10, "how many outbounds each dataplane has")
	flags.IntVar(&o.samples, "samples", 0, "how often each change is applied (default 200; with --serve 3)")
	flags.BoolVar(&o.files, "files", true, "load the world from files; =false makes it in memory")
	flags.Float64Var(&o.maxSlope, "max-slope", 0, "the steepest growth that is not an error; 0: no limit")
	flags.StringVar(&o.output, "o", "table", "the form of the answer: "+strings.Join(outputs, ", ")+"; with --serve "+strings.Join(serveOutputs, ", "))
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	shape, dataplanes, samples, allowed := "fleet", sizes{100_000}, 200, outputs
	if o.isServe {
		shape, dataplanes, samples, allowed = "mesh-perf-10", sizes{2_000, 10_000}, 3, serveOutputs
	}
	o.shape, o.samples = cmp.Or(o.shape, shape), cmp.Or(o.samples, samples)
	if o.dataplanes == nil {
		o.dataplanes = dataplanes
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case !slices.Contains(allowed, o.output):
		return nil, fmt.Errorf("-o must be %s, not %q", strings.Join(allowed, ", "), o.output)
	case o.isServe && o.maxSlope != 0:
		return nil, errors.New("--serve has no --max-slope: it prints the growth")
	case !(o.maxMemory >= 0) || o.maxMemory > 0 && !o.isServe:
		return nil, errors.New("--max-memory is a number above 0, and asks for --serve")
	case !(o.maxSlope >= 0) || o.maxSlope > 0 && slices.Min(o.dataplanes) == slices.Max(o.dataplanes):
		return nil, errors.New("--max-slope is a number above 0, and asks for worlds of several sizes: --dataplanes 10000,100000")
	case o.policies < 1 || o.outbounds < 1 || o.samples < 1:
		return nil, errors.New("--policies, --outbounds and --samples must be at least 1")
	}
	return &o, nil
}

func findShape(name string) (found world.Shape, err error) {
	var names []string
	for _, s := range world.Shapes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return found, fmt.Errorf("unknown shape %q; one of %s", name, strings.Join(names, ", "))
}

// answer is what is measured.
type answer struct {
	Worlds []*world.Report `json:"worlds"`
	Slopes []world.Slope   `json:"slopes,omitempty"`
}

func run(ctx context.Context, kind *resource.Kind, conf func(int) resource.Conf, show func(string, ...any), args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if kind != nil && kind.To == nil {
		return fmt.Errorf("the policies of worlds have items of to, and the kind %s has none", kind.Name)
	}
	shape, err := findShape(o.shape)
	if err != nil {
		return err
	}
	if o.isServe {
		if kind != nil {
			return errors.New("--serve has policies of the built-in kinds only")
		}
		return o.serve(ctx, shape, show, stdout, stderr)
	}
	var a answer
	for _, n := range o.dataplanes {
		with := world.Options{Kind: kind, Conf: conf, Shape: shape, Dataplanes: n, Policies: o.policies, Outbounds: o.outbounds, Samples: o.samples, Files: o.files}
		report, err := world.Measure(ctx, with, func(step string) {
			show("%d dataplanes, %d policies: %s ...", n, o.policies, step)
		})
		show("")
		if err != nil {
			return err
		}
		a.Worlds = append(a.Worlds, report)
	}
	a.Slopes = world.Slopes(a.Worlds)
	if err := a.print(stdout, o.output); err != nil {
		return err
	}
	return checkSlopes(a.Slopes, o.maxSlope)
}

func (a *answer) print(w io.Writer, form string) error {
	switch form {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(a)
	case "bench":
		for _, r := range a.Worlds {
			if err := r.WriteBenchmarks(w); err != nil {
				return err
			}
		}
		return nil
	}
	return a.table(w)
}

func checkSlopes(slopes []world.Slope, limit float64) error {
	var steep []string
	for _, s := range slopes {
		if limit > 0 && s.Fixed && s.Slope > limit {
			steep = append(steep, fmt.Sprintf("%s: %.2f", s.Change, s.Slope))
		}
	}
	if len(steep) > 0 {
		return fmt.Errorf("slopes above %g: %s", limit, strings.Join(steep, "; "))
	}
	return nil
}
