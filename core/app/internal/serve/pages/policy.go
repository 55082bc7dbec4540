package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// policyData is the data of the page of a policy.
type policyData struct {
	*inspect.Policy
	Facts    []fact
	Text     *policyText
	Findings []finding
	Pending  bool // findings are being sought
	Enforced int
	Informs  int
	Rows     []targetRow
	Overrid  overrideSummary
	Pager    pager
	Try      string
	Values   string
}

// targetRow is a dataplane that a policy selects.
type targetRow struct {
	Name, Href, Inbounds string
	Informs              bool
	Because              string
	// Effect is what the policy does there; "" if it was not asked for.
	Effect string
	By     []overriddenField
}

// overriddenField is a field of the policy that another item overrides.
type overriddenField struct {
	Field string
	By    itemLink
}

// overrideSummary is where a policy is overridden, among the dataplanes that are shown.
type overrideSummary struct{ Applies, Overridden, Of int }

// effectsShown is the number of dataplanes for which the page of a policy has the effect,
// because each of them is a question of its own.
const effectsShown = 100

func (s *site) policy(a *ask) (*view, error) {
	kind, err := find.Kind(a.View.Kinds(), a.PathValue("kind"))
	if err != nil {
		return nil, problem{404, err}
	}
	p, err := a.policyOf(kind, a.PathValue("name"))
	if err != nil {
		return nil, err
	}
	answer, err := inspect.NewPolicy(a.View, p, a.form.Get("o") != "json" || a.form.Has("source"))
	if err != nil {
		return nil, err
	}
	v := &view{Title: p.Qualified(), Kind: p.Kind, Section: "policies", Live: true, JSON: answer}
	if a.wantsJSON() {
		return v, nil
	}
	n, err := a.pageNumber()
	if err != nil {
		return nil, err
	}
	data := policyData{Policy: answer, Pager: a.pager(n, len(answer.Dataplanes)), Text: a.policyText(p)}
	for i := range answer.Dataplanes {
		if answer.Dataplanes[i].Action == ocm.Inform.String() {
			data.Informs++
		} else {
			data.Enforced++
		}
	}
	a.addTargets(&data, p)
	c := s.check(a.State, false)
	if c.ready() || c.wait(a.Context(), slotWait/10) {
		about := c.about(p.Pos)
		data.Findings = a.findingsOf(about)
		data.Text.mark(data.Findings)
	} else {
		data.Pending = true
	}
	data.Facts = a.policyFacts(p, answer)
	data.Try = s.ofMesh(a.mesh, "try")
	if data.Text != nil && len(data.Text.Plain) <= maxInLink {
		data.Try += "?" + url.Values{"policy": {data.Text.Plain}}.Encode() + "#policy-text"
	}
	if kind.To != nil || kind.Default != nil || kind.Rules != nil {
		data.Values = with(s.ofMesh(a.mesh, "values"), "kind", p.Kind)
	}
	v.Data = data
	return v, nil
}

func (a *ask) policyOf(kind *resource.Kind, name string) (*resource.Policy, error) {
	if p := a.View.Policy(resource.ID{Kind: kind.Name, Mesh: a.mesh, Name: name}); p != nil && !a.form.Has("namespace") {
		return p, nil
	}
	return find.Policy(a.View, a.mesh, kind.Name, a.name(name))
}

func (a *ask) policyFacts(p *resource.Policy, answer *inspect.Policy) []fact {
	return withText(fact{"KRI", answer.Policy.KRI, "", true}, fact{"Selects", inspect.PolicySummary(p), "", false},
		fact{"Labels", p.Labels.String(), "", true}, fact{"Source", p.Pos.String(), "", true})
}

// addTargets adds the dataplanes of the page, with the effect of the policy on each.
func (a *ask) addTargets(data *policyData, p *resource.Policy) {
	shown := data.Dataplanes[data.Pager.from:data.Pager.to]
	for i := range shown {
		t := &shown[i]
		name := resource.ID{Namespace: t.Namespace, Name: t.Name}.Qualified()
		row := targetRow{
			Name: name, Href: a.site.ofMesh(a.mesh, "dataplanes", name), Inbounds: strings.Join(t.Inbounds, ", "),
			Informs: t.Action == ocm.Inform.String(), Because: strings.Join(t.Because, ", "),
		}
		d := a.View.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: a.mesh, Namespace: t.Namespace, Name: t.Name})
		if i < effectsShown && d != nil && a.Context().Err() == nil {
			a.addEffect(data, &row, d, p)
		}
		data.Rows = append(data.Rows, row)
	}
}

func (a *ask) addEffect(data *policyData, row *targetRow, d *resource.Dataplane, p *resource.Policy) {
	query := why.Query{Kind: p.Type, Options: inspect.Options{Source: true}}
	effect, _ := why.NewPolicy(a.Context(), a.View, d, p, &query) // without an answer it is not shown
	if effect == nil {
		return
	}
	row.Effect = string(effect.Answer)
	data.Overrid.Of++
	switch effect.Answer {
	case why.Applies:
		data.Overrid.Applies++
	case why.Overridden:
		data.Overrid.Overridden++
	}
	for _, pointer := range sortedPointers(effect.Overridden) {
		by := effect.Overridden[pointer]
		row.By = append(row.By, overriddenField{pointer, a.site.item(a.mesh, p.Kind, by.Item, by.Source)})
	}
}

func sortedPointers[T any](m map[string]T) []string {
	return slices.SortedFunc(maps.Keys(m), inspect.ComparePointers)
}

func (o overrideSummary) text() string {
	text := "Of the " + thousands(o.Of) + " below it applies to " + thousands(o.Applies)
	if o.Overridden > 0 {
		text += ", and is overridden on " + thousands(o.Overridden)
	}
	return text + "."
}
