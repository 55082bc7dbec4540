package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

const pictureName = "results.svg"

// A page is what RESULTS.md says about the run.
type page struct {
	plan     plan
	start    time.Time
	commit   string // when it started
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

func newPage(p plan) (*page, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("the program has no build information")
	}
	versions := map[string]string{}
	for _, m := range build.Deps {
		versions[m.Path] = m.Version
	}
	page := &page{plan: p, start: time.Now().UTC(), commit: commit()}
	for _, path := range peerModules {
		page.versions = append(page.versions, path+" "+versions[path])
	}
	return page, nil
}

// commit returns the revision of the working tree, or "unknown".
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// machine names the processor, on Linux, and the limits of the run.
func machine() string {
	model := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := ""
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = ", load " + strings.Fields(string(data))[0] + " at the end"
	}
	return fmt.Sprintf("%s, %d processors, GOMAXPROCS=%d, %s %s/%s%s",
		model, runtime.NumCPU(), runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH, load)
}

func (p *page) markdown(all []result, end time.Time) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# Meshmatch and its peers

Written by `+"`make peers`"+`, which measures all contenders in one process, on the same inputs. The
answers of all contenders are compared before anything is measured.

- date: %s, in %s
- commit: %s
- machine: %s
- rounds: %d, alternating; at least %s for each contender in a round
- versions: %s

A ratio is the peer's median divided by meshmatch's, of the same rounds: above 1, meshmatch
is better. In brackets is its 95 %% confidence interval. Allocations are those of one
operation; a bar means that they were not measured.

![ratios](%s)

`, p.start.Format("2006-01-02 15:04 UTC"), end.Sub(p.start).Round(time.Second), p.commit, machine(),
		p.plan.rounds, p.plan.round, strings.Join(p.versions, ", "), pictureName)
	text.WriteString("| ratio | work | input | peer | meshmatch | peer's | allocations |\n|---:|---|---|---|---:|---:|---:|\n")
	var notes []string
	subject := ""
	for _, r := range all {
		c := r.comparison
		if c.subject != subject {
			subject = c.subject
			fmt.Fprintf(&text, "| | **%s** | | | | | |\n", subject)
		}
		mark := ""
		if c.note != "" {
			mark = fmt.Sprintf(" [%d]", number(&notes, c.note))
		}
		fmt.Fprintf(&text, "| %s | %s%s | %s | %s | %s | %s | %s |\n", ratioText(r.ratio), c.work, mark, c.input, r.peer,
			quantity(r.ours.median, c.unit), quantity(r.theirs.median, c.unit), allocations(r))
	}
	for _, absent := range absentWork {
		fmt.Fprintf(&text, "| - | %s | | - | | - | |\n", absent)
	}
	text.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&text, "%d. %s.\n", i+1, strings.ToUpper(note[:1])+note[1:])
	}
	text.WriteString(absentPeers)
	return text.String()
}

// absentWork is what no peer of this module does.
var absentWork = []string{
	"which policy set each field of the merged result",
	"which dataplanes a changed policy reaches, and where",
	"is there a request whose decision a change turns, with an example",
}

const absentPeers = `
Not measured: Kuma (` + "`github.com/kumahq/kuma/v2`" + `) and the part of Calico that needs
` + "`github.com/projectcalico/api`" + ` (memberships of IP sets, the calculation graph), because the module proxy
that this module was made with does not serve them. Of Calico, the index of selectors and
their evaluation are measured.
`

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
	if r.allocs < 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f, %.0f", r.ourAllocs, r.allocs)
}
