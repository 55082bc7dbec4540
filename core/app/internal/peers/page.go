package main

import (
	_ "embed"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/usage"
)

// A page is what RESULTS.md has about the run.
type page struct {
	plan     plan
	command  string // that writes the page
	picture  string // its file
	whole    bool   // the page has all comparisons
	planned  int    // how many comparisons the run has
	start    time.Time
	commit   string // when it started
	load     string // likewise
	versions []string
}

// peerModules are the modules whose versions the page names.
var peerModules = []string{
	"github.com/cedar-policy/cedar-go",
	"github.com/envoyproxy/go-control-plane",
	"github.com/evanphx/json-patch/v5",
	"github.com/projectcalico/calico",
	"go.yaml.in/yaml/v3",
	"google.golang.org/grpc",
	"k8s.io/apimachinery",
	"sigs.k8s.io/yaml",
}

func newPage(p plan, picture string, flags []string, planned int) (*page, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("the program has no build information")
	}
	versions := map[string]string{}
	for _, m := range build.Deps {
		versions[m.Path] = m.Version
	}
	command := "make peers"
	if len(flags) > 0 {
		command = "go run . " + strings.Join(flags, " ") + "` in `core/app/internal/peers"
	}
	page := &page{plan: p, command: command, picture: picture, whole: len(flags) == 0, planned: planned, start: time.Now().UTC(), commit: usage.Commit(), load: usage.Load()}
	for _, path := range peerModules {
		page.versions = append(page.versions, path+" "+versions[path])
	}
	page.versions = append(page.versions, kumaModule+" "+kumaVersion())
	return page, nil
}

func gibibytes(bytes float64) string {
	if bytes == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f GiB", bytes/(1<<30))
}

// progressOf is how far a run has come.
type progressOf struct {
	results    []result
	done       int      // comparisons, also those that failed
	failed     []string // why the others have no row
	ended      bool
	kumaMemory string // the most physical memory of Kuma's processes; "-" if there was none
}

// note returns what a reader must know about a run that is not whole; empty otherwise.
func (r *progressOf) note(planned int) string {
	var text string
	if r.done < planned {
		state := "is not at its end"
		if r.ended {
			state = "was interrupted"
		}
		text = fmt.Sprintf("\n**This run %s: it has %d of %d comparisons.**\n", state, r.done, planned)
	}
	if len(r.failed) > 0 {
		text += "\n**Failed, and without a row:**\n\n"
		for _, failure := range r.failed {
			text += "- " + failure + "\n"
		}
	}
	return text
}

// image is the picture of the page, if it has one.
func (p *page) image() string {
	if p.picture == "" {
		return ""
	}
	return "\n![ratios](" + p.picture + ")\n"
}

// markdown returns the page of a run that has ended, or has come this far.
func (p *page) markdown(run *progressOf, end time.Time) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# Meshmatch and its peers

Written by `+"`%s`"+`. All contenders get the same inputs, and the answers of all are
compared before anything is measured. They are in one process; only Kuma is in a process of its
own, because it needs other versions of the same modules (core/app/internal/peers/kuma), and measures
itself there.
%s
- date: %s, in %s
- commit: %s
- machine: %s; load %s at the start and %s at the end
- memory: at most %s in this process, with all contenders and their clients, and %s in Kuma's
- rounds: %d, alternating; at least %s for each contender in a round
- versions: %s

How to read the table:

- *ratio*: the peer's measurement divided by meshmatch's of the same round. It is the median of
  all rounds, with its 95 %% confidence interval in brackets, by golang.org/x/perf/benchmath
  without an assumption about the distribution. **Above 1, meshmatch is better; below 1, in bold, the
  peer is.** If the interval contains 1, neither is shown to be better.
- *meshmatch*, *peer's*: the medians: the time of one operation, or the heap of one proxy. Less
  is better.
- *allocations* of one operation, meshmatch's and the peer's; "-": not counted, because the work
  is that of many goroutines of both sides.
- "-" elsewhere: no peer does this work, or the peer could not be had in this run, which is then
  said below the table.
- Numbers in brackets are notes below the table: what one side does more than the other, and whose
  input it is.
%s
`, p.command, run.note(p.planned), p.start.Format("2006-01-02 15:04 UTC"), end.Sub(p.start).Round(time.Second), p.commit, usage.Machine(), p.load, usage.Load(),
		gibibytes(usage.PeakMemory("self")), run.kumaMemory, p.plan.rounds, p.plan.round, strings.Join(p.versions, ", "), p.image())
	text.WriteString("| ratio | work | input | peer | meshmatch | peer's | allocations |\n|---:|---|---|---|---:|---:|---:|\n")
	var notes []string
	subject := ""
	for _, r := range run.results {
		c := r.comparison
		if c.subject != subject {
			subject = c.subject
			fmt.Fprintf(&text, "| | **%s** | | | | | |\n", subject)
		}
		mark := func(note string) string {
			if note == "" {
				return ""
			}
			return fmt.Sprintf(" [%d]", number(&notes, note))
		}
		about, source := mark(c.note), ""
		if c.source != "" {
			source = mark("the input follows " + c.source)
		}
		ratio, theirs := "-", "-"
		if r.compared() {
			ratio, theirs = ratioText(r.ratio), quantity(r.theirs.median, c.unit)
		}
		fmt.Fprintf(&text, "| %s | %s%s | %s%s | %s | %s | %s | %s |\n", ratio, c.work, about, c.input, source, r.peer,
			quantity(r.ours.median, c.unit), theirs, allocations(r))
	}
	text.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&text, "%d. %s.\n", i+1, strings.ToUpper(note[:1])+note[1:])
	}
	if i := slices.IndexFunc(run.results, func(r result) bool { return r.missing != nil }); i >= 0 {
		fmt.Fprintf(&text, "\n%s has \"-\", because it could not be had in this run: %s\n", run.results[i].peer, run.results[i].missing)
	}
	if p.whole {
		text.WriteString(absentPeers)
	}
	return text.String()
}

// absentPeers is what the table cannot have.
//
//go:embed absent.txt
var absentPeers string

// number returns the number of a note, from 1.
func number(notes *[]string, note string) int {
	for i, n := range *notes {
		if n == note {
			return i + 1
		}
	}
	*notes = append(*notes, note)
	return len(*notes)
}

// ratioText is in bold if the peer is better.
func ratioText(r summary) string {
	text := significant(r.median)
	if r.bounded() {
		text += fmt.Sprintf(" [%s, %s]", significant(r.low), significant(r.high))
	}
	if r.median < 1 {
		return "**" + text + "**"
	}
	return text
}

// grouped returns a number with a comma before each three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// significant returns a number with two digits, or all of those before the point.
func significant(f float64) string {
	switch {
	case f >= 10:
		return fmt.Sprintf("%.0f", f)
	case f >= 1:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2g", f)
}

// quantity returns a time or a number of bytes with three digits and a unit.
func quantity(value float64, unit string) string {
	units := []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}
	if unit == "B" {
		units = units[:0:0]
		units = append(units, struct {
			name string
			size float64
		}{"KiB", 1024}, struct {
			name string
			size float64
		}{"B", 1})
	}
	for _, u := range units {
		if value >= u.size {
			return fmt.Sprintf("%s %s", threeDigits(value/u.size), u.name)
		}
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}

func threeDigits(f float64) string {
	decimals := max(0, 2-int(math.Floor(math.Log10(f))))
	return fmt.Sprintf("%.*f", decimals, f)
}

func allocations(r result) string {
	switch {
	case r.ourAllocs < 0:
		return "-"
	case r.allocs < 0:
		return fmt.Sprintf("%.0f, -", r.ourAllocs)
	}
	return fmt.Sprintf("%.0f, %.0f", r.ourAllocs, r.allocs)
}
