package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// replayQuery is the flags of `replay`.
type replayQuery struct {
	next    newInput
	logs    []string
	renamed string
	since   string
	format  bool
}

func newReplay(g *globals) *cobra.Command {
	var q replayQuery
	c := withHelp("replay", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return q.run(g, c) },
	})
	flags := c.Flags()
	flags.StringArrayVar(&q.logs, "log", nil, "the access log, a `FILE` or - for standard input; may be repeated")
	flags.StringVar(&q.renamed, "map", "", "`NAME=FIELD` pairs, separated by commas, for fields with another name in the log")
	flags.StringVar(&q.since, "since", "", "leave out records before a `TIME`, as in RFC 3339, or a duration before now such as 2h30m")
	flags.BoolVar(&q.format, "format", false, "print the MeshAccessLog that writes the fields that are read")
	q.next.register(flags)
	return c
}

// check reports flags that are missing or cannot be combined.
func (q *replayQuery) check(g *globals) error {
	switch {
	case q.format && (len(q.logs) > 0 || q.since != "" || q.next.given()):
		return usagef("--format reads no log; give it, or --log with --since, --with, --apply or --delete")
	case !q.format && len(q.logs) == 0:
		return usagef("no log is given; use --log FILE or --log -")
	case repeats(slices.Concat(g.files, q.next.files(), q.logs), resource.Stdin):
		return errStdinTwice
	}
	return q.next.check()
}

func (q *replayQuery) run(g *globals, c *cobra.Command) error {
	if err := q.check(g); err != nil {
		return err
	}
	renamed, err := q.fields()
	if err != nil {
		return err
	}
	since, err := parseSince(q.since, time.Now())
	if err != nil {
		return err
	}
	if q.format {
		return g.printLogFormat(c, renamed)
	}
	answer, errLimit := q.answer(g, c, renamed, since)
	if answer == nil {
		return errLimit
	}
	warnOfLogs(c, answer, errLimit == nil)
	return ended(g.print(c, answer, func(p *page) { replayPage(p, answer) }), errLimit, answer.Changed())
}

// warnOfLogs prints the first malformed lines and, if the logs were read as a whole, that they
// have no record.
func warnOfLogs(c *cobra.Command, answer *traffic.Replay, whole bool) {
	for _, name := range answer.Idle {
		printError(c.ErrOrStderr(), "warning: ", fmt.Errorf("--map: %s has no effect: no entry compares a header of this name, and the fields that are no headers are %s", name, replay.FixedNames()))
	}
	for _, line := range answer.MalformedLines {
		printError(c.ErrOrStderr(), "warning: ", errors.New(line))
	}
	if more := answer.Malformed - int64(len(answer.MalformedLines)); more > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %d more malformed lines\n", more)
	}
	switch {
	case answer.Records > 0 || !whole:
	case answer.Earlier > 0:
		printError(c.ErrOrStderr(), "warning: ", errors.New("all records are earlier than --since, so nothing is compared"))
	default:
		printError(c.ErrOrStderr(), "warning: ", errors.New("the logs have no record, so nothing is compared; a record is a JSON object with the fields that --format prints"))
	}
}

// fields returns the fields of --map.
func (q *replayQuery) fields() (map[string]string, error) {
	if q.renamed == "" {
		return nil, nil
	}
	renamed, err := replay.ParseRenamed(q.renamed)
	if err != nil {
		return nil, usagef("--map: %w", err)
	}
	return renamed, nil
}

// parseSince returns the time of --since, or zero.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usagef("--since: %q is neither a duration, such as 2h30m, nor a time, such as 2026-11-29T14:00:00Z", diag.OneLine(text))
	}
	return at, nil
}

// answer replays the logs. The error may be about a part of the answer.
func (q *replayQuery) answer(g *globals, c *cobra.Command, renamed map[string]string, since time.Time) (*traffic.Replay, error) {
	var before, after *world
	var next *core.View
	var err error
	if q.next.given() {
		if before, after, err = q.next.load(g, c); err != nil {
			return nil, err
		}
		next = after.view
		if before.mesh, err = g.chooseMesh(slices.Compact(slices.Sorted(slices.Values(append(before.view.Meshes(), after.view.Meshes()...))))); err != nil {
			return nil, err
		}
	} else if before, err = g.load(c); err != nil {
		return nil, err
	}
	progress := new(replay.Progress)
	defer showProgress(c.ErrOrStderr(), progress)()
	return traffic.NewReplay(c.Context(), before.view, next, before.mesh,
		traffic.ReplayQuery{Files: q.logs, Stdin: c.InOrStdin(), Renamed: renamed, Since: since, Progress: progress}, inspect.Options{Source: g.withSource()})
}

// printLogFormat prints the policy that writes what a replay reads: as YAML, unless JSON is
// asked for. It has no targetRef, which means the whole mesh in every version of Kuma.
func (g *globals) printLogFormat(c *cobra.Command, renamed map[string]string) error {
	mesh := g.mesh
	var view *core.View
	if len(g.files) > 0 {
		w, err := g.load(c)
		if err != nil {
			return err
		}
		mesh, view = w.mesh, w.view
	}
	mesh = cmp.Or(mesh, resource.DefaultMesh)
	fields, err := traffic.ReplayFields(renamed, mesh, view)
	if err != nil {
		return err
	}
	policy, err := traffic.NewReplayLog(fields, mesh, "/dev/stdout")
	if err != nil {
		return err
	}
	g.reportLeftOut(c)
	if g.output.word != "json" {
		g.output.word = "yaml"
	}
	type rule struct {
		Default resource.Conf `json:"default"`
	}
	var document struct {
		Type string `json:"type"`
		Mesh string `json:"mesh"`
		Name string `json:"name"`
		Spec struct {
			Rules []rule `json:"rules"`
		} `json:"spec"`
	}
	document.Type, document.Mesh, document.Name = policy.Kind, policy.Mesh, policy.Name
	document.Spec.Rules = lists.MapPointers(policy.Rules, func(r *resource.Rule) rule { return rule{r.Conf} })
	return g.encode(c.OutOrStdout(), document)
}

// replayPage prints counts, then each difference with an example.
func replayPage(p *page, a *traffic.Replay) {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	p.row("semantics", a.Semantics.String())
	p.row("records", count(a.Records))
	if a.Earlier > 0 {
		p.row("earlier", count(a.Earlier))
	}
	timesRow(p, "times", a.ReplayTimes)
	p.row("malformed", count(a.Malformed))
	p.row("unknown", count(a.Unknown))
	for _, reason := range a.UnknownReasons {
		p.row("", count(reason.Count)+"  "+reason.Reason)
	}
	shown := len(a.Differences)
	if !p.wide {
		shown = min(shown, replayShown)
	}
	for i := range a.Differences[:shown] {
		d := &a.Differences[i]
		p.heading(0, "%s", diag.Count(int(d.Count), "record"))
		timesRow(p, "times", d.ReplayTimes)
		p.row("log", d.Log)
		p.row("before", decisionText(p, &d.Before))
		if d.After != nil {
			p.row("after", decisionText(p, d.After))
		}
		at := d.Example.Inbound + " of " + p.name("", d.Example.Name, d.Example.Dataplane)
		if d.Example.Source != "" {
			at += "  " + d.Example.Source
		}
		p.row("example", at)
		p.row("", requestOptions(&d.Example.Witness))
	}
	switch more := len(a.Differences) - shown; {
	case len(a.Differences) == 0:
		p.heading(0, "no record differs")
	case more > 0:
		p.heading(0, "%d more differences; -o wide shows all", more)
	}
	if len(a.Changes) > 0 {
		p.heading(0, "decisions of the log that changed")
		eachShown(p, len(a.Changes), func(i int) {
			c := &a.Changes[i]
			clients := cmp.Or(c.SpiffeID, "clients without a certificate")
			if c.Clients > 1 {
				clients += fmt.Sprintf(" and %d more", c.Clients-1)
			}
			p.row(c.From+" to "+c.To, fmt.Sprintf("between %s and %s  %s of %s  %s", timeText(c.After), timeText(c.Before), c.Inbound, p.name("", c.Name, c.Dataplane), clients))
		})
	}
	if len(a.NeverHit) > 0 {
		p.heading(0, "entries that decided about no record")
		neverHitRows(p, a.NeverHit)
	}
	if len(a.Unnamed) > 0 {
		p.heading(0, "identities that no entry of the inbound names")
		eachShown(p, len(a.Unnamed), func(i int) { p.row(a.Unnamed[i]) })
	}
}

// timesRow prints the times of records, if they have some.
func timesRow(p *page, title string, t traffic.ReplayTimes) {
	if t.First != nil {
		p.row(title, timeText(*t.First)+" to "+timeText(*t.Last))
	}
}

func timeText(t time.Time) string { return t.Format(time.RFC3339Nano) }

// replayShown is how many elements of a list are in a table that is not wide.
const replayShown = 20

// eachShown prints the rows of a list, and how many more there are.
func eachShown(p *page, n int, row func(i int)) {
	for i := range n {
		if i == replayShown && !p.wide {
			p.row(fmt.Sprintf("and %d more; -o wide shows all", n-i))
			return
		}
		row(i)
	}
}

// neverHitRows prints entries: each by itself if the page is wide, else the entries of one
// list of a rule together.
func neverHitRows(p *page, entries []inspect.Decider) {
	type list struct{ kri, name string }
	var lists []list
	indexes := map[list][]int{}
	for i := range entries {
		e := &entries[i]
		if p.wide {
			p.row(p.reason(e.KRI, e.Item, e.Source))
			continue
		}
		at := list{e.KRI, strings.TrimSuffix(e.Item, fmt.Sprintf("[%d]", *e.Index))}
		if indexes[at] == nil {
			lists = append(lists, at)
		}
		indexes[at] = append(indexes[at], *e.Index)
	}
	for _, at := range lists {
		p.row(at.name + "[" + ranges(indexes[at]) + "]")
	}
}

// ranges returns numbers, which are sorted, with a dash between the ends of a sequence.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		first := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; i++ {
		}
		text := strconv.Itoa(numbers[first])
		if last := numbers[i-1]; last > numbers[first] {
			text += "-" + strconv.Itoa(last)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}
