package benchworld

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// table writes the answer for a reader.
func (a *answer) table(w io.Writer) error {
	p := newPage(w)
	for _, r := range a.Worlds {
		p.heading("%s: %d dataplanes, %d policies", r.Shape, r.Sizes.Dataplanes, r.Sizes.Policies)
		if r.Load > 0 {
			p.row("load", duration(r.Load), fmt.Sprintf("from %.1f MB of JSON files; %.0f B per dataplane", float64(r.FileBytes)/1e6, r.Loaded))
		}
		p.row("cold build", duration(r.Build), "from decoded resources")
		p.row("heap", fmt.Sprintf("%.0f B", r.Heap), fmt.Sprintf("per dataplane, in addition to %.0f B of resources", r.Resources))
		if r.Resident > 0 {
			p.row("resident", fmt.Sprintf("%.0f MB", float64(r.Resident)/1e6), "of the process, after the build")
		}
		p.row("read", duration(r.Read), "one dataplane's confs")
		p.row("cold read", duration(r.ReadCold), fmt.Sprintf("another dataplane's each time; %d allocations in 2,000", r.ReadAllocs))
		if d := r.Destinations; d != nil {
			p.row("select and merge", duration(d.One), fmt.Sprintf("another dataplane's each time, by one kind; %s for all of its %d outbounds; %s for the first after a change of a policy", duration(d.All), d.Outbounds, duration(d.AfterPolicy)))
			outbounds := "no dataplane refers to it"
			if d.NewOutbounds > 0 {
				outbounds = fmt.Sprintf("and %s for the first dataplane's outbounds, with the conf of the new one", duration(d.NewOutbounds))
			}
			p.row("add a service", duration(d.AddService), outbounds)
			p.row("remove an endpoint", duration(d.RemoveEndpoint), fmt.Sprintf("and %s for the bytes of the service's endpoints", duration(d.EndpointBytes)))
			p.row("first answer", duration(d.Export), "about an export of 30 objects in YAML, in memory")
		}
		p.row("shared", fmt.Sprintf("%d blocks", r.Sizes.Blocks), fmt.Sprintf("of %d profiles, %d classes; %.4f blocks per dataplane",
			r.Sizes.Profiles, r.Sizes.Classes, float64(r.Sizes.Blocks)/float64(r.Sizes.Dataplanes)))
		p.heading("changes")
		p.row("change", "least", "p50", "p99", "compare", "dataplanes")
		for _, row := range r.Changes {
			p.row(row.Change, duration(row.Least), duration(row.P50), duration(row.P99), duration(row.Compare), fmt.Sprintf("%.0f", row.Touched))
		}
	}
	if len(a.Slopes) == 0 {
		return p.w.Flush()
	}
	p.heading("growth with the number of dataplanes")
	p.row("change", "slope", "touched")
	for _, s := range a.Slopes {
		touched := "more in a larger world"
		if s.Fixed {
			touched = "as many in each world"
		}
		p.row(s.Change, fmt.Sprintf("%.2f", s.Slope), touched)
	}
	return p.w.Flush()
}

// page is a text with headings and tables.
type page struct{ w *tabwriter.Writer }

func newPage(w io.Writer) page { return page{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (p page) heading(format string, args ...any) {
	p.w.Flush() // the columns of a table end at a heading
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p page) row(cells ...string) { fmt.Fprintln(p.w, "  "+strings.Join(cells, "\t")) }

// duration prints three digits and a unit.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {"µs", time.Microsecond}} {
		if d >= unit.size {
			return strconv.FormatFloat(float64(d)/float64(unit.size), 'g', 3, 64) + " " + unit.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}
