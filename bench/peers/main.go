package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/meshmatch/meshmatch/bench/progress"
)

func main() {
	directory := flag.String("o", "..", "the `directory` of RESULTS.md and results.svg")
	rounds := flag.Int("rounds", 11, "how often each contender is measured; six are needed for an interval")
	round := flag.Duration("round", 200*time.Millisecond, "how long a contender runs in a round")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *directory, plan{*rounds, *round}); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures everything, writes the page and the picture, and prints the page.
func run(ctx context.Context, directory string, p plan) error {
	logrus.SetOutput(io.Discard) // Calico logs
	page, err := newPage(p)
	if err != nil {
		return err
	}
	line := progress.On(os.Stderr)
	all, err := measureAll(ctx, comparisons(), size{full: true}, p, func(c comparison) {
		line.Step("%s: %s: %s ...", c.subject, c.work, c.input)
	})
	line.Done()
	if err != nil {
		return err
	}
	text := page.markdown(all, time.Now())
	if err := os.WriteFile(filepath.Join(directory, "RESULTS.md"), []byte(text), 0o644); err != nil {
		return err
	}
	if err := drawRatios(filepath.Join(directory, pictureName), all); err != nil {
		return err
	}
	fmt.Print(text)
	return nil
}

// measureAll measures comparisons one after the other.
func measureAll(ctx context.Context, list []comparison, s size, p plan, step func(comparison)) ([]result, error) {
	var all []result
	for _, c := range list {
		step(c)
		found, err := measureOne(ctx, c, s, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.work, c.input, err)
		}
		all = append(all, found...)
	}
	return all, nil
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
	measured, err := measure(ctx, contest, p)
	if err != nil {
		return nil, err
	}
	return results(c, measured), nil
}
