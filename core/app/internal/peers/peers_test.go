package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
)

// Every comparison of a small input is prepared, its answers are equal, and one short round
// of each contender is measured. The page and the picture show all of them.
func TestComparisons(t *testing.T) {
	logrus.SetLevel(logrus.FatalLevel)
	p := plan{rounds: 2, round: time.Microsecond}
	var all []result
	for _, c := range comparisons(1_000) {
		t.Run(c.String(), func(t *testing.T) {
			found, _, err := measureOne(t.Context(), c, size{}, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range found {
				if r.missing != nil {
					t.Fatal(r.missing)
				}
				if r.compared() && !(r.ours.median > 0 && r.theirs.median > 0 && r.ratio.median > 0) {
					t.Errorf("%s: %+v", r.peer, r)
				}
			}
			all = append(all, found...)
		})
	}
	if t.Failed() {
		return
	}
	planned := len(comparisons(1_000))
	page, err := newPage(p, "results.svg", nil, planned)
	if err != nil {
		t.Fatal(err)
	}
	text := page.markdown(&progressOf{results: all, done: planned}, time.Now())
	for _, r := range all {
		if !strings.Contains(text, "| "+r.peer+" |") || !strings.Contains(text, r.comparison.input) || !strings.Contains(text, r.comparison.source) {
			t.Errorf("the page lacks %s of %s (%s)", r.peer, r.comparison.input, r.comparison.source)
		}
	}
	picture := filepath.Join(t.TempDir(), "results.svg")
	if err := drawRatios(picture, all); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("the picture is %.20q, %v", svg, err)
	}
}

// A contender with another answer is refused before anything is measured.
func TestDifferentAnswers(t *testing.T) {
	answering := func(name, answer string) contender {
		return contender{name: name, answer: func() (string, error) { return answer, nil }}
	}
	c := &contest{contenders: []contender{answering(meshmatch, "a"), answering("other", "b")}}
	if err := c.check(); err == nil || !strings.Contains(err.Error(), `meshmatch answers "a", and other "b"`) {
		t.Errorf("got error %v", err)
	}
	c.contenders[1] = answering("other", "a")
	if err := c.check(); err != nil {
		t.Error(err)
	}
}

// The facts of a proxy have what its policies set, of inbounds and of outbounds.
func TestProxyFacts(t *testing.T) {
	w := rateLimitOfMeshPerf(size{})
	engine, err := engineOf(t.Context(), w.set)
	if err != nil {
		t.Fatal(err)
	}
	middle := w.dataplanes[len(w.dataplanes)/2:][:1]
	facts, err := factsOf(newMeshOf(engine, middle, ca.NewAuthorities("")).snapshots(), messagesOf)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"INBOUND; 10.0.0.30:80; http idle 1h0m0s 2h0m0s; prefix /, timeout 0s, at most 10000, then 10000 in 1s, else 429, connect 10s",
		"OUTBOUND; 127.0.0.1:10000; idle 30m0s, prefix /, timeout 15s, cluster srv-016 connect 5s, idle 1h0m0s, connection 0s, stream 0s at [10.0.0.32:80 10.0.0.33:80]",
	} {
		if !strings.Contains(facts, want) {
			t.Errorf("the facts lack %q:\n%s", want, facts)
		}
	}
}

// A ratio of each round is summarized, so noise that is in both sides of a round is not in
// the ratio.
func TestResults(t *testing.T) {
	ours := series{name: meshmatch, values: []float64{1, 2, 4, 8, 1, 2, 4}}
	theirs := series{name: "other", values: []float64{3, 6, 12, 24, 3, 6, 12}}
	r := peerResults(comparison{}, []series{ours, theirs}, nil)[0]
	if r.ratio != (summary{3, 3, 3}) || r.ours.median != 2 || r.theirs.median != 6 || r.allocs != -1 {
		t.Errorf("got %+v", r)
	}
	if text := ratioText(summary{0.5, 0.25, 0.75}); text != "**0.5 [0.25, 0.75]**" {
		t.Errorf("a better peer is printed as %s", text)
	}
}

// If Kuma cannot be had, the page has meshmatch's figures and the reason.
// TestSampleAgain: a sample that cannot be right is taken again, and fails after some.
func TestSampleAgain(t *testing.T) {
	samples := []float64{-3, 0, 7}
	c := contender{sample: func() (float64, error) {
		next := samples[0]
		samples = append(samples[1:], -1)
		return next, nil
	}}
	var s series
	if err := s.add(c, 0); err != nil || !slices.Equal(s.values, []float64{7}) {
		t.Errorf("values %v, error %v", s.values, err)
	}
	if err := s.add(c, 0); err == nil || err.Error() != "measured -1" {
		t.Errorf("error %v", err)
	}
}

func TestMissingPeer(t *testing.T) {
	ours := series{name: meshmatch, values: []float64{1e-3}}
	all := peerResults(comparison{work: "merge", unit: "s"}, []series{ours}, fmt.Errorf("%w: refused", errNoKuma))
	text := new(page).markdown(&progressOf{results: all}, time.Now())
	for _, want := range []string{
		"| - | merge |  | Kuma | 1.00 ms | - | - |",
		`Kuma has "-", because it could not be had in this run: Kuma cannot be had: refused`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if err := drawRatios(filepath.Join(t.TempDir(), "results.svg"), all); err != nil {
		t.Error(err)
	}
}

// Work that no peer does has meshmatch's figures and "-".
func TestNoPeer(t *testing.T) {
	ours := series{name: meshmatch, values: []float64{1e-3}, allocs: []float64{7}}
	all := peerResults(comparison{work: "explain", unit: "s"}, []series{ours}, nil)
	if text, want := new(page).markdown(&progressOf{results: all}, time.Now()), "| - | explain |  | - | 1.00 ms | - | 7, - |"; !strings.Contains(text, want) {
		t.Errorf("the page lacks %q", want)
	}
}

// A comparison that fails has no row; the page and the error have the reason, and the others are
// measured.
func TestFailedComparison(t *testing.T) {
	answering := func(answers ...string) func(context.Context, size) (*contest, error) {
		c := new(contest)
		for i, answer := range answers {
			c.contenders = append(c.contenders, contender{
				name: []string{meshmatch, "other"}[i], operate: repeat(func() error { return nil }),
				answer: func() (string, error) { return answer, nil },
			})
		}
		return func(context.Context, size) (*contest, error) { return c, nil }
	}
	list := []comparison{
		{subject: "Work", work: "one", unit: "s", prepare: answering("a", "b")},
		{subject: "Work", work: "two", unit: "s", prepare: answering("a", "a")},
	}
	var last *progressOf
	err := measureAll(t.Context(), list, size{}, plan{rounds: 1}, func(int) {}, func(p *progressOf) error {
		last = p
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), `Work: one: : meshmatch answers "a", and other "b"`) {
		t.Errorf("the error is %v", err)
	}
	page := &page{planned: 2}
	text := page.markdown(last, time.Now())
	for _, want := range []string{"Failed, and without a row", `- Work: one: : meshmatch answers "a", and other "b"`, " | two | "} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "This run") {
		t.Error("the page of a whole run has a note that it is not whole")
	}
}

// An interrupted run ends before the next comparison, and the page says how far it came.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	list := make([]comparison, 3)
	for i := range list {
		list[i].prepare = func(context.Context, size) (*contest, error) {
			if i == 1 {
				cancel()
			}
			return only(func() (string, error) { return "", nil }, func() error { return nil }), nil
		}
	}
	var text string
	page := &page{planned: len(list)}
	err := measureAll(ctx, list, size{}, plan{rounds: 1}, func(int) {}, func(p *progressOf) error {
		text = page.markdown(p, time.Now())
		return nil
	})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("the error is %v", err)
	}
	if want := "**This run was interrupted: it has 1 of 3 comparisons.**"; !strings.Contains(text, want) {
		t.Errorf("the page lacks %q", want)
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{1.5, "s", "1.50 s"}, {0.0123, "s", "12.3 ms"}, {123e-9, "s", "123 ns"}, {2048, "B", "2.00 KiB"}, {100, "B", "100 B"},
	} {
		if got := quantity(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is printed as %s, want %s", c.value, c.unit, got, c.want)
		}
	}
}
