package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/migrate"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// checkQuery is the flags of `check`.
type checkQuery struct {
	expand bool
	next   choice
	envoy  string // a version
	scope  checkScope
	failOn failOn
}

// checkScope is what a check looks for beyond the mesh itself.
type checkScope struct {
	// serve adds what a data plane of this program does not do. By targetref it is always
	// added: no other data plane reads policies so.
	serve bool
	envoy xds.Client
	tls   bool   // the dataplanes that are served to no client over TLS
	next  string // what this version of Kuma reads differently
}

// proxies reports whether a check looks at the proxies of the program.
func (s *checkScope) proxies(by semantics.Semantics) bool {
	return s.serve || by == semantics.TargetRef
}

func newCheck(g *globals) *cobra.Command {
	q := checkQuery{next: choice{words: versions}}
	c := withHelp("check", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return q.run(g, c) },
	})
	c.Long = strings.ReplaceAll(c.Long, "{classes}", classList())
	c.Flags().BoolVar(&q.expand, "expand", false, "print the policies with their syntactic sugar expanded")
	g.store.registerSecrets(c.Flags())
	c.Flags().BoolVar(&q.scope.serve, "serve", false, "also report what the proxies of serve and snapshot do not do")
	c.Flags().BoolVar(&q.scope.tls, "tls", false, "warn of dataplanes that are served to no client over TLS")
	c.Flags().Var(&q.next, "for", "also report what this `VERSION` of Kuma reads differently: kuma3")
	envoyFlag(c, &q.envoy)
	g.findingFlags(c, &q.failOn)
	return c
}

func (q *checkQuery) run(g *globals, c *cobra.Command) error {
	g.keepSources = q.next.word != ""
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return g.printInvalid(c, err)
	}
	switch {
	case q.expand && g.isReport():
		return usagef("--expand prints policies, in -o table, json or yaml")
	case q.expand:
		return g.printDocuments(c, slices.Concat(lists.Map(w.view.Meshes(), w.view.Policies)...))
	}
	if q.scope.envoy, err = envoyClient(q.envoy); err != nil {
		return err
	}
	q.scope.serve, q.scope.next = q.scope.serve || q.envoy != "", q.next.word
	answer, err := g.check(c.Context(), w, &q.scope)
	if err != nil {
		return g.printInvalid(c, err)
	}
	answer.Envoy = q.scope.envoy.Lacks.Missing()
	if g.isReport() {
		g.reportLeftOut(c)
		err = g.writeReport(c, answer.Findings())
	} else {
		err = g.print(c, answer, func(p *page) { checkPage(p, answer) })
	}
	return ended(err, nil, q.failOn.any(answer.Findings()))
}

// check returns the findings about the input, without those that it ignores.
func (g *globals) check(ctx context.Context, w *world, scope *checkScope) (*check.Check, error) {
	answer := check.New(w.view, w.set)
	proxies := scope.proxies(w.view.Semantics())
	unserved, err := snapshot.NewBuilder(g.translators, snapshot.Options{}).At(w.view).Unserved(ctx, scope.envoy)
	answer.Warnings = append(answer.Warnings, unserved...) // what proxies cannot do (SPEC 11.1)
	if _, mistakes := err.(diag.Errors); err != nil && (proxies || !mistakes) {
		return nil, err
	}
	if !proxies {
		answer.SetFindings(slices.DeleteFunc(answer.Findings(), func(d diag.Diagnostic) bool { return d.Serve }))
	}
	if scope.tls {
		answer.Warnings = append(answer.Warnings, check.Unidentified(w.view)...)
	}
	if scope.next != "" {
		if err := g.addMigration(ctx, answer, w.set); err != nil {
			return nil, err
		}
	}
	ignores, positions := w.set.Ignores, w.set.Positions()
	if w.edited != nil {
		ignores, positions = slices.Concat(ignores, w.edited.Ignores), slices.Concat(positions, w.edited.Positions())
	}
	findings := diag.WithoutIgnored(answer.Findings(), ignores, positions, func(code diag.Code) bool {
		of := code.Definition()
		return w.edited != nil || len(g.leftOut) > 0 || of.TLS && !scope.tls || of.Serve && !proxies || code.IsForNextVersion() && scope.next == ""
	})
	nameOnStdin(findings, w.set)
	answer.SetFindings(findings)
	return answer, nil
}

// nameOnStdin adds the name of the resource to each finding about a field on standard input
// that does not have it.
func nameOnStdin(findings []diag.Diagnostic, set *resource.Set) {
	for i := range findings {
		f := &findings[i]
		name := set.NameOnStdin(f.Pos)
		_, short, _ := strings.Cut(name, " ")
		if short = short[strings.LastIndexByte(short, '/')+1:]; name != "" && f.Path != "" && !strings.Contains(f.What, short) {
			f.What += " (" + name + ")"
		}
	}
}

// addMigration adds the findings about Kuma 3.
func (g *globals) addMigration(ctx context.Context, answer *check.Check, set *resource.Set) error {
	w, err := g.view(ctx, set, semantics.Kuma)
	if err != nil {
		return err
	}
	findings, err := migrate.Findings(w.view, set)
	answer.Warnings = diag.Sorted(append(answer.Warnings, findings...))
	return err
}

// printInvalid prints the answer for invalid input, unless it is a table, and
// returns the errors, which are printed to standard error.
func (g *globals) printInvalid(c *cobra.Command, err error) error {
	var invalid diag.Errors
	switch {
	case !errors.As(err, &invalid):
	case g.isReport():
		if err := g.writeReport(c, invalid); err != nil {
			return err
		}
	case !g.isTable():
		given, _ := semantics.Parse(g.semantics.word) // else none is chosen
		answer := &check.Check{
			Semantics: given, Resources: map[string]int{}, Skipped: map[string]int{},
			Errors: invalid, Warnings: []diag.Diagnostic{},
		}
		if err := g.print(c, answer, nil); err != nil {
			return err
		}
	}
	return err
}

func checkPage(p *page, a *check.Check) {
	counts := func(title string, kinds map[string]int) {
		if len(kinds) == 0 {
			return
		}
		p.heading(0, "%s", title)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			p.row(kind, strconv.Itoa(kinds[kind]))
		}
	}
	p.row("semantics", a.Semantics.String())
	if len(a.Resources) == 0 {
		p.heading(0, "no resources")
	}
	counts("resources", a.Resources)
	counts("skipped: no answer depends on them", a.Skipped)
	counts("not read: what they configure is in no answer", a.Unread)
	switch {
	case len(a.Warnings) > 0:
		p.heading(0, "warnings")
		groupLines(p, a.Warnings)
	case len(a.Resources) > 0:
		p.heading(0, "no warnings")
	}
	if len(a.Info) > 0 {
		p.heading(0, "info")
		groupLines(p, a.Info)
	}
	if len(a.Envoy) > 0 {
		p.heading(0, "this Envoy lacks, of the newest")
		for _, lack := range a.Envoy {
			p.line("%s: %s", lack.Capability, lack.Instead)
		}
	}
}

// groupLines prints a line for each cause.
func groupLines(p *page, findings []diag.Diagnostic) {
	for _, group := range check.Grouped(findings) {
		p.line("%s", group.Line())
	}
}

// printDocuments prints policies as a stream of documents that -f reads: of JSON objects, or of
// YAML documents.
func (g *globals) printDocuments(c *cobra.Command, policies []*resource.Policy) error {
	g.reportLeftOut(c)
	if g.output.word == "json" {
		return printDocuments(c.OutOrStdout(), policies, inspect.JSON, "")
	}
	return printYAML(c.OutOrStdout(), policies)
}
