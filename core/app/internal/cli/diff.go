package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// diffQuery is the flags of `diff`.
type diffQuery struct {
	next    newInput
	policy  string
	options inspect.Options
	failOn  failOn
}

func newDiff(g *globals) *cobra.Command {
	var q diffQuery
	c := withHelp("diff", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return q.run(g, c) },
	})
	flags := c.Flags()
	q.next.register(flags)
	g.findingFlags(c, &q.failOn)
	g.kindFlag(flags, "only changes of this policy `KIND`", func(k *resource.Kind) { q.options.Kind = k.Name })
	flags.BoolVar(&q.options.Shadow, "shadow", false, "as if the policies that only inform were enforced")
	flags.StringVar(&q.policy, "policy", "", "with --shadow: as if only this policy, `KIND/NAME`, were enforced in addition")
	g.completeFlag(c, "policy", qualifiedPolicies)
	return c
}

// check reports flags that are missing or cannot be combined.
func (q *diffQuery) check() error {
	switch {
	case !q.next.given() && !q.options.Shadow:
		return usagef("nothing to compare with is given; use --with FILE, --with DIRECTORY, --apply FILE, --delete or --shadow")
	case q.policy != "" && (!q.options.Shadow || q.next.given()):
		return usagef("--policy belongs to --shadow without --with, --apply and --delete")
	}
	return q.next.check()
}

func (q *diffQuery) run(g *globals, c *cobra.Command) error {
	if err := q.check(); err != nil {
		return err
	}
	q.options.Source = g.withSource()
	compared, worlds, err := q.comparisons(g, c)
	if err != nil {
		return err
	}
	var parts []*diff.Diff // of each mesh
	var limits []error
	for i := range compared {
		part, errLimit := compared[i].Diff(c.Context(), q.options, g.translators)
		if part == nil {
			return errLimit
		}
		parts, limits = append(parts, part), append(limits, errLimit)
	}
	answer, errLimit := q.joined(parts, worlds), errors.Join(limits...)
	var findings []diag.Diagnostic
	if g.isReport() || q.failOn.given() {
		if findings, err = g.newFindings(c.Context(), parts, worlds); err != nil {
			return err
		}
	}
	if g.isReport() {
		g.reportLeftOut(c)
		err = g.writeReport(c, findings)
	} else {
		err = g.print(c, answer, func(p *page) { diffPages(p, answer, parts) })
	}
	no := !answer.Empty()
	if q.failOn.given() {
		no = q.failOn.any(findings) || q.failOn.asksForAccess() && (answer.HasMeshWithoutDataplanes() || len(g.unreadDecisions(allRequests)) > 0)
	}
	return ended(err, errLimit, no)
}

// joined returns the diffs of all meshes as one, and what changes for clusters of OCM. The
// worlds are of two inputs; nil with --shadow.
func (q *diffQuery) joined(parts []*diff.Diff, worlds *[2]*world) *diff.Diff {
	if worlds == nil {
		return diff.Join(parts[0].Semantics, parts)
	}
	answer := diff.Join(worlds[1].view.Semantics(), parts)
	if q.options.Kind == "" {
		answer.Placements = diff.NewPlacements(placedPolicies(worlds[0]), placedPolicies(worlds[1]))
	}
	return answer
}

// comparisons loads both sides, and returns a comparison for each mesh of either side, or the
// one of --mesh. The worlds are of two inputs; nil with --shadow.
func (q *diffQuery) comparisons(g *globals, c *cobra.Command) (compared []proxied.Comparison, worlds *[2]*world, err error) {
	if !q.next.given() {
		compared, err = q.shadow(g, c)
		return compared, nil, err
	}
	before, after, err := q.next.load(g, c)
	if err != nil {
		return nil, nil, err
	}
	if g.mesh == "" && len(before.view.Meshes())+len(after.view.Meshes()) == 0 && len(before.set.Documents)+len(after.set.Documents) > 0 {
		return nil, &[2]*world{before, after}, nil // only clusters can change
	}
	meshes, err := g.meshesOf(before.view, after.view)
	if err != nil {
		return nil, nil, err
	}
	scope := inspect.ScopeOf(q.options.Shadow)
	return comparisonsOf(meshes, proxied.Side{View: before.view, Scope: scope}, proxied.Side{View: after.view, Scope: scope}), &[2]*world{before, after}, nil
}

func comparisonsOf(meshes []string, before, after proxied.Side) []proxied.Comparison {
	return lists.Map(meshes, func(mesh string) proxied.Comparison {
		return proxied.Comparison{Before: before, After: after, Mesh: mesh}
	})
}

// shadow compares the input with itself, with policies that inform enforced.
func (q *diffQuery) shadow(g *globals, c *cobra.Command) ([]proxied.Comparison, error) {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return nil, err
	}
	noteServed(c, w.view)
	if q.policy == "" {
		meshes, err := g.meshesOf(w.view)
		return comparisonsOf(meshes, proxied.Side{View: w.view}, proxied.Side{View: w.view, Scope: core.Shadow}), err
	}
	if w.mesh, err = g.chooseMesh(w.view.Meshes()); err != nil {
		return nil, err
	}
	policy, err := g.policyOf(w, q.policy)
	if err != nil {
		return nil, err
	}
	view, err := diff.WithEnforced(c.Context(), w.view, w.set, policy)
	if err != nil {
		return nil, err
	}
	return comparisonsOf([]string{policy.Mesh}, proxied.Side{View: w.view}, proxied.Side{View: view}), nil
}

// newFindings returns what opens, closes and drains, and the findings of the new input that
// the old one lacks.
func (g *globals) newFindings(ctx context.Context, parts []*diff.Diff, worlds *[2]*world) ([]diag.Diagnostic, error) {
	findings := slices.Concat(lists.Map(parts, func(part *diff.Diff) []diag.Diagnostic { return part.Findings(len(parts) > 1) })...)
	if worlds == nil {
		return findings, nil
	}
	var errs []error
	found := make([][]diag.Diagnostic, 2)
	for i, w := range worlds {
		answer, err := g.check(ctx, w, &checkScope{})
		var mistakes diag.Errors
		switch {
		case err == nil:
			found[i] = answer.Findings()
		case errors.As(err, &mistakes): // of proxies, which the comparison does not need
			found[i] = mistakes
		default:
			errs = append(errs, err)
		}
	}
	return append(findings, diag.Added(found[0], found[1])...), errors.Join(errs...)
}

// diffPages prints what changes, by mesh if there are several.
func diffPages(p *page, answer *diff.Diff, parts []*diff.Diff) {
	defer placementsPage(p, answer.Placements)
	dataplanes := *answer
	dataplanes.Placements = nil
	switch {
	case len(parts) == 0 && answer.Empty():
		p.line("no cluster changes")
		return
	case !answer.Empty() && dataplanes.Empty(): // only clusters change
		return
	}
	meshes := "mesh " + answer.Meshes[0]
	if len(parts) > 1 {
		meshes = "meshes " + listed(answer.Meshes)
	}
	switch compared := len(answer.NotCompared) == 0; {
	case answer.Empty():
		p.line("no dataplane changes in %s, by the semantics %s", meshes, answer.Semantics)
		return
	case !compared && answer.OnlyNotCompared():
		p.line("nothing was compared in %s, by the semantics %s", meshes, answer.Semantics)
	default:
		p.row("semantics", answer.Semantics.String())
	}
	if len(parts) == 1 {
		diffPage(p, answer)
		return
	}
	p.row("meshes", listed(answer.Meshes))
	for _, part := range parts {
		if !part.Empty() {
			p.heading(0, "mesh %s", part.Meshes[0])
			diffPage(p, part)
		}
	}
}

// placementsPage shows what changes for clusters.
func placementsPage(p *page, placements []diff.Placement) {
	policy := ""
	for i := range placements {
		c := &placements[i]
		if c.Policy != policy {
			policy = c.Policy
			p.heading(0, "Policy %s", policy)
		}
		what := c.Before + " -> " + c.After
		if c.Before == c.After {
			what = c.After
		}
		if c.Content {
			what += ", with other content"
		}
		p.row(c.Cluster, what+"  because of "+someOf(c.Because, 5))
	}
}

func diffPage(p *page, diff *diff.Diff) {
	for i := range diff.NotCompared {
		p.row("not compared", diff.NotCompared[i].String())
	}
	if diff.OnlyNotCompared() {
		return
	}
	if len(diff.Groups) > 0 {
		p.row("changes", dataplaneCount(diff))
	} else {
		p.row("changes", "0 dataplanes: no conf of a policy")
	}
	p.field("opens", inboundNames(diff.Opens))
	p.field("closes", inboundNames(diff.Closes))
	lossesPage(p, diff.Loses)
	staysPage(p, diff.Stays)
	if len(diff.Drains) > 0 {
		p.row("drains", drainText(diff.Drains))
	}
	p.field("added", someOf(pick(p, diff.AddedNames, diff.Added), 5))
	p.field("removed", someOf(pick(p, diff.RemovedNames, diff.Removed), 5))
	for i := range diff.Destinations {
		destinationPage(p, &diff.Destinations[i])
	}
	for i := range diff.Access {
		accessDiffPage(p, &diff.Access[i])
	}
	changedGroups(p, diff.Groups)
}

// destinationPage shows what changes for a destination.
func destinationPage(p *page, d *diff.Destination) {
	p.heading(0, "%s %s", pick(p, d.Name, d.KRI), d.Action)
	for i := range d.Changes {
		change := &d.Changes[i]
		p.row(strings.ReplaceAll(fieldName(change.Field), "~1", "/"), rawText(change.Before)+" -> "+rawText(change.After))
	}
	if e := d.Endpoints; e != nil {
		for _, part := range []struct {
			what string
			kris []string
		}{{"added", e.Added}, {"removed", e.Removed}, {"changed", e.Changed}} {
			if len(part.kris) > 0 {
				p.row("endpoints", part.what+" "+someOf(part.kris, 5))
			}
		}
	}
	because := lists.Map(d.Because, func(c diff.Cause) string { return c.Kind + " " + strings.TrimPrefix(c.Namespace+"/"+c.Name, "/") })
	p.field("because of", someOf(because, 5))
}

func rawText(value json.RawMessage) string {
	var decoded any
	if value == nil || json.Unmarshal(value, &decoded) != nil {
		return "(not set)"
	}
	return valueText(decoded)
}

// accessDiffPage prints the requests that an inbound allows or denies now, each with an
// example.
func accessDiffPage(p *page, a *diff.Access) {
	p.heading(0, "access of %s, inbound %s", someOf(pick(p, a.Names, a.Dataplanes), 5), a.Inbound)
	changes := func(title string, list []diff.AccessChange) {
		for i := range list {
			change := &list[i]
			p.row(title, change.Clients.String())
			p.row("", decisionText(p, &change.Before)+" -> "+decisionText(p, &change.After))
			p.row("", "example: "+requestOptions(&change.Witness))
		}
	}
	changes("opens", a.Opens)
	changes("closes", a.Closes)
}

// lossesPage shows what clients may no longer call: a row for each client and its identities.
func lossesPage(p *page, losses []diff.Loss) {
	for rows := 0; len(losses) > 0; rows++ {
		if rows == 10 {
			p.row("loses", fmt.Sprintf("and %s more, with -o json", diag.Count(len(losses), "inbound")))
			return
		}
		client, n := &losses[0], 1
		var to []string
		for ; n <= len(losses); n++ {
			to = append(to, strings.TrimSuffix(losses[n-1].To+" "+losses[n-1].Inbound, " "))
			if n == len(losses) || losses[n].Client != client.Client || !slices.Equal(losses[n].SPIFFEIDs, client.SPIFFEIDs) {
				break
			}
		}
		text := client.Client + " may no longer call " + someOf(slices.Compact(to), 5)
		if client.After != nil {
			text += ": it becomes " + cmp.Or(strings.Join(client.After, ", "), "a client without an identity")
		}
		p.row("loses", text)
		losses = losses[n:]
	}
}

func dataplaneCount(diff *diff.Diff) string {
	n := 0
	for _, group := range diff.Groups {
		n += len(group.Dataplanes)
	}
	return diag.Count(n, "dataplane")
}

// staysPage prints what goes on where access is taken.
func staysPage(p *page, stays []diff.Stay) {
	for _, row := range []struct{ what, title, until string }{
		{diff.StaysStreams, "open streams", "until they end"},
		{diff.StaysConnections, "open connections", "until the drain time is over"},
	} {
		ofRow := lists.Filter(stays, func(s diff.Stay) bool { return s.What == row.what })
		if names := lists.Map(ofRow, func(s diff.Stay) string { return s.Name + " " + s.Inbound }); len(names) > 0 {
			p.row("stays", row.title+" of "+someOf(names, 5)+", "+row.until)
		}
	}
}

// drainText returns how many listeners drain, and why.
func drainText(drains []diff.Drain) string {
	var because, dataplanes []string
	for i := range drains {
		because, dataplanes = append(because, drains[i].Because...), append(dataplanes, drains[i].Dataplane)
	}
	slices.Sort(because)
	return fmt.Sprintf("%s of %s, because of %s", diag.Count(len(drains), "listener"),
		diag.Count(len(slices.Compact(dataplanes)), "dataplane"), listed(slices.Compact(because)))
}

func inboundNames(inbounds []diff.InboundOf) string {
	return someOf(lists.Map(inbounds, func(in diff.InboundOf) string { return in.Name + " " + in.Inbound }), 5)
}

// someOf joins names; of a long list it joins only the first ones.
func someOf(names []string, shown int) string {
	if len(names) <= shown {
		return listed(names)
	}
	return fmt.Sprintf("%s and %d more", listed(names[:shown]), len(names)-shown)
}

func changedField(c *diff.ConfChange) string {
	switch c.Field {
	case "":
		return "conf"
	case "order":
		return "order of rules"
	}
	return fieldName(c.Field)
}

func changeText(p *page, change *diff.ConfChange, value json.RawMessage, origin *inspect.ItemRef) string {
	var decoded any
	var collector *inspect.Collector
	switch {
	case value != nil && strings.HasSuffix(change.Field, diff.CollectorField) && json.Unmarshal(value, &collector) == nil:
		return collector.String()
	case value == nil:
		return "(not set)"
	case json.Unmarshal(value, &decoded) != nil:
		return string(value)
	case origin == nil:
		return valueText(decoded)
	}
	return valueText(decoded) + " by " + p.reason(origin.KRI, origin.Item, origin.Source)
}
