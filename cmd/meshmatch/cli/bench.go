package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/progress"
	worldbench "github.com/meshmatch/meshmatch/bench/world"
)

func newBench(g *globals) *cobra.Command {
	return group("bench", "Measure on this machine", newBenchWorld(g))
}

// worldFlags are the flags of `bench world`.
type worldFlags struct {
	shape      string
	dataplanes []int
	policies   int
	outbounds  int
	samples    int
	files      bool
	maxSlope   float64
	form       choice
}

func newBenchWorld(g *globals) *cobra.Command {
	f := worldFlags{form: choice{"table", append(slices.Clone(outputs), "svg", "bench")}}
	c := &cobra.Command{
		Use:   "world",
		Short: "Measure loading, changing and reading a world of a given size",
		Long: `Make a world of dataplanes and policies. Measure loading it from files, the first
build from decoded resources, the heap in addition to the resources, a read, and
each kind of change.

With several sizes the growth of each change is printed too: 0 is no growth, 1 is
in proportion to the number of dataplanes. With --max-slope it is an error if a
change that affects the same number of dataplanes in each world grows faster. A
change that needs a larger world is left out.

With -o bench the answer has the format of Go benchmarks: benchstat compares two of them,
and benchgate check compares one with rules.

With -o svg the answer is a picture of these times against the number of dataplanes.

Shapes:
` + shapesAbout(),
		Example: `  meshmatch bench world --dataplanes 100000 --policies 10000
  meshmatch bench world --dataplanes 10000,100000 --max-slope 0.2
  meshmatch bench world --shape clustered -o json
  meshmatch bench world --dataplanes 1000,10000,100000 -o svg > growth.svg`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, g) },
	}
	flags := c.Flags()
	flags.StringVar(&f.shape, "shape", "fleet", "the shape of the world: "+strings.Join(shapeNames(), ", "))
	flags.IntSliceVar(&f.dataplanes, "dataplanes", []int{100_000}, "how many dataplanes, in each world")
	flags.IntVar(&f.policies, "policies", 10_000, "how many policies")
	flags.IntVar(&f.outbounds, "outbounds", 10, "how many outbounds each dataplane has")
	flags.IntVar(&f.samples, "samples", 200, "how often each change is applied")
	flags.BoolVar(&f.files, "files", true, "load the world from files; =false makes it in memory")
	flags.VarP(&f.form, "output", "o", "the `FORMAT` of the answer: "+strings.Join(f.form.words, ", "))
	flags.Float64Var(&f.maxSlope, "max-slope", 0, "the steepest growth that is not an error; 0: no limit")
	return c
}

func shapesAbout() string {
	var about strings.Builder
	for _, s := range worldbench.Shapes() {
		fmt.Fprintf(&about, "  %-12s  %s\n", s.Name, s.About)
	}
	return strings.TrimSuffix(about.String(), "\n")
}

func shapeNames() []string {
	var names []string
	for _, s := range worldbench.Shapes() {
		names = append(names, s.Name)
	}
	return names
}

// benchAnswer is the answer of `bench world`.
type benchAnswer struct {
	Worlds []*worldbench.Report `json:"worlds"`
	Slopes []worldbench.Slope   `json:"slopes,omitempty"`
}

func (f *worldFlags) run(c *cobra.Command, g *globals) error {
	if !(f.maxSlope >= 0) || f.maxSlope > 0 && slices.Min(f.dataplanes) == slices.Max(f.dataplanes) {
		return usagef("--max-slope is a number above 0, and asks for worlds of several sizes: --dataplanes 10000,100000")
	}
	picture, benchmarks := f.form.word == "svg", f.form.word == "bench"
	if !picture && !benchmarks {
		g.output.word = f.form.word
	}
	line := progress.On(c.ErrOrStderr())
	var answer benchAnswer
	for _, n := range f.dataplanes {
		o := worldbench.Options{Dataplanes: n, Policies: f.policies, Outbounds: f.outbounds, Samples: f.samples, Files: f.files}
		for _, s := range worldbench.Shapes() {
			if s.Name == f.shape {
				o.Shape = s
			}
		}
		switch {
		case o.Shape.Name == "":
			return usagef("unknown shape %q; one of %s", f.shape, strings.Join(shapeNames(), ", "))
		case f.policies < 1 || f.outbounds < 1 || f.samples < 1:
			return usagef("--policies, --outbounds and --samples must be at least 1")
		}
		report, err := worldbench.Measure(c.Context(), o, func(step string) {
			line.Step("%d dataplanes, %d policies: %s ...", n, f.policies, step)
		})
		line.Done()
		if err != nil {
			return err
		}
		answer.Worlds = append(answer.Worlds, report)
	}
	answer.Slopes = worldbench.Slopes(answer.Worlds)
	if benchmarks {
		for _, r := range answer.Worlds {
			if err := r.WriteBenchmarks(c.OutOrStdout()); err != nil {
				return err
			}
		}
	} else if picture {
		if err := worldPicture(c.OutOrStdout(), &answer); err != nil {
			return err
		}
	} else if err := g.print(c, answer, func(p *page) { benchPage(p, &answer) }); err != nil {
		return err
	}
	return f.checkSlopes(answer.Slopes)
}

func (f *worldFlags) checkSlopes(slopes []worldbench.Slope) error {
	if f.maxSlope == 0 {
		return nil
	}
	var steep []string
	for _, s := range slopes {
		if s.Fixed && s.Slope > f.maxSlope {
			steep = append(steep, fmt.Sprintf("%s: %.2f", s.Change, s.Slope))
		}
	}
	if len(steep) > 0 {
		return fmt.Errorf("slopes above %g: %s", f.maxSlope, strings.Join(steep, "; "))
	}
	return nil
}
