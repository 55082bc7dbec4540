package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/meshmatch/meshmatch/bench/progress"
)

func main() {
	file := flag.String("o", filepath.Join("..", "RESULTS.md"), "the `file` of the page; its picture has the same name in lower case, and ends with .svg")
	rounds := flag.Int("rounds", 11, "how often each contender is measured; six are needed for an interval")
	round := flag.Duration("round", 200*time.Millisecond, "how long a contender runs in a round")
	services := flag.Int("services", 1_000, "how many services the served graph of mesh-perf has; its tests have 1,000 and 25,000")
	only := flag.String("only", "", "measure only what matches this `expression`: the subject, the work and the input, with a colon between them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	chosen, err := regexp.Compile(*only)
	if err == nil {
		list := slices.DeleteFunc(comparisons(*services), func(c comparison) bool { return !chosen.MatchString(c.String()) })
		if len(list) == 0 {
			err = fmt.Errorf("no comparison matches -only %q", *only)
		} else {
			err = run(ctx, *file, list, plan{*rounds, *round})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures comparisons, writes the page and the picture after each of them, and prints the
// page.
func run(ctx context.Context, file string, list []comparison, p plan) error {
	logrus.SetLevel(logrus.FatalLevel) // Calico logs, also each change of a selector
	picture := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))) + ".svg"
	page, err := newPage(p, picture, os.Args[1:])
	if err != nil {
		return err
	}
	line := progress.On(os.Stderr)
	if slices.ContainsFunc(list, func(c comparison) bool { return c.kuma }) {
		line.Step("building the program with Kuma's packages; takes minutes the first time ...")
		_ = buildKuma() // the comparisons note that it is missing
	}
	var text string
	err = measureAll(ctx, list, size{full: true}, p, func(c comparison) { line.Step("%s ...", c) }, func(all []result) error {
		// The page is also complete after an interrupted run, for what was measured.
		text = page.markdown(all, time.Now())
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		return drawRatios(filepath.Join(filepath.Dir(file), picture), all)
	})
	line.Done()
	fmt.Print(text)
	return err
}

// measureAll measures comparisons one after the other. It reports the start of each one, and
// the results until then at its end.
func measureAll(ctx context.Context, list []comparison, s size, p plan, start func(comparison), end func([]result) error) error {
	var all []result
	for _, c := range list {
		start(c)
		found, err := measureOne(ctx, c, s, p)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		all = append(all, found...)
		if err := end(all); err != nil {
			return err
		}
	}
	return nil
}

func measureOne(ctx context.Context, c comparison, s size, p plan) ([]result, error) {
	contest, err := c.prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	if contest.close != nil {
		defer contest.close()
	}
	if err := contest.check(); err != nil {
		return nil, err
	}
	if c.rounds > 0 {
		p.rounds = min(p.rounds, c.rounds)
	}
	measured, err := measure(ctx, contest, p)
	if err != nil {
		return nil, err
	}
	return results(c, measured, contest.missing), nil
}
