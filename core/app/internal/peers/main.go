package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/meshmatch/meshmatch/bench/gate"
)

//go:embed help.txt
var helpText string

// options are the flags.
type options struct {
	file     string
	plan     plan
	services int
	only     string
	list     bool
}

func main() {
	var o options
	flag.StringVar(&o.file, "o", "", "the `file` of the page; its picture has the same name in lower case, and ends with .svg. Without -only it is ../../../../bench/RESULTS.md by default")
	flag.IntVar(&o.plan.rounds, "rounds", 11, "how often each contender is measured; six are needed for an interval")
	flag.DurationVar(&o.plan.round, "round", 200*time.Millisecond, "how long a contender runs in a round, at least")
	flag.IntVar(&o.services, "services", 1_000, "how many services the served graph of mesh-perf has; its tests have 1,000 and 25,000")
	flag.StringVar(&o.only, "only", "", "measure only what matches this `expression`: the subject, the work and the input, with a colon between them")
	flag.BoolVar(&o.list, "list", false, "print the names of the comparisons, and measure nothing")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), helpText)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	if err := start(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// start checks the flags, and measures.
func start(ctx context.Context, o options, arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("unexpected argument %q; see -help", arguments[0])
	}
	if o.plan.rounds < 1 || o.services < 1 {
		return errors.New("-rounds and -services must be at least 1")
	}
	chosen, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	list := slices.DeleteFunc(comparisons(o.services), func(c comparison) bool { return !chosen.MatchString(c.String()) })
	if len(list) == 0 {
		return fmt.Errorf("no comparison matches -only %q; -list prints all", o.only)
	}
	if o.list {
		for _, c := range list {
			fmt.Println(c)
		}
		return nil
	}
	if o.file == "" && o.only == "" {
		o.file = filepath.Join("..", "..", "..", "..", "bench", "RESULTS.md")
	}
	return run(ctx, o, list)
}

// run measures comparisons, writes the page and the picture after each of them, and prints the
// page at the end. The error has all comparisons that failed.
func run(ctx context.Context, o options, list []comparison) error {
	logrus.SetLevel(logrus.FatalLevel) // Calico logs, also each change of a selector
	logrus.SetOutput(io.Discard)
	picture := ""
	if o.file != "" {
		picture = strings.ToLower(strings.TrimSuffix(filepath.Base(o.file), filepath.Ext(o.file))) + ".svg"
	}
	page, err := newPage(o.plan, picture, os.Args[1:], len(list))
	if err != nil {
		return err
	}
	line := gate.LineOn(os.Stderr)
	if slices.ContainsFunc(list, func(c comparison) bool { return c.kuma }) {
		line.Step("building the program with Kuma's packages; takes minutes the first time ...")
		_ = buildKuma(ctx) // the comparisons note that it is missing
	}
	var text string
	write := func(p *progressOf) error {
		text = page.markdown(p, time.Now())
		if o.file == "" {
			return nil
		}
		if err := os.WriteFile(o.file, []byte(text), 0o644); err != nil {
			return err
		}
		return drawRatios(filepath.Join(filepath.Dir(o.file), picture), p.results)
	}
	err = measureAll(ctx, list, size{full: true}, o.plan, func(i int) { line.Step("%d of %d: %s ...", i+1, len(list), list[i]) }, write)
	line.Done()
	fmt.Print(text)
	return err
}

// errInterrupted indicates that a signal ended the run.
var errInterrupted = errors.New("interrupted")

// measureAll measures comparisons one after the other. It reports the start of each one, and
// how far it has come at its end. If one fails, the others are measured.
func measureAll(ctx context.Context, list []comparison, s size, p plan, start func(i int), end func(*progressOf) error) error {
	run := &progressOf{kumaMemory: "-"}
	var errs []error
	var peak float64
	for i, c := range list {
		start(i)
		found, memory, err := measureOne(ctx, c, s, p)
		if ctx.Err() != nil {
			run.ended = true
			return errors.Join(append(errs, errInterrupted, end(run))...)
		}
		run.done++
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c, err))
			run.failed = append(run.failed, errs[len(errs)-1].Error())
		}
		if peak = max(peak, memory); peak > 0 {
			run.kumaMemory = gibibytes(peak)
		}
		run.results = append(run.results, found...)
		if err := end(run); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// measureOne also returns the most physical memory of Kuma's process in bytes, if it has part.
func measureOne(ctx context.Context, c comparison, s size, p plan) (found []result, kumaMemory float64, err error) {
	contest, err := c.prepare(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	if contest.close != nil {
		defer contest.close()
	}
	if err := contest.check(); err != nil {
		return nil, 0, err
	}
	if c.rounds > 0 {
		p.rounds = min(p.rounds, c.rounds)
	}
	measured, err := measure(ctx, contest, p)
	if err != nil {
		return nil, 0, err
	}
	if contest.memory != nil {
		kumaMemory = contest.memory()
	}
	return peerResults(c, measured, contest.missing), kumaMemory, nil
}
