package pages

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/resource"
)

// policiesData is the data of the list of policies.
type policiesData struct {
	Q, Kind  string
	All      int
	Kinds    []kindCount
	Rows     []policyRow
	Pager    pager
	Findings bool
}

// kindCount is a kind with the number of its policies.
type kindCount struct {
	Kind, Href string
	Count      int
	Current    bool
}

type policyRow struct {
	Kind, Name, Href, Target string
	Informs                  bool
	Findings                 int
}

// policiesAnswer is the JSON of the list.
type policiesAnswer struct {
	Total    int             `json:"total"`
	Page     int             `json:"page"`
	Pages    int             `json:"pages"`
	Policies []policySummary `json:"policies"`
}

type policySummary struct {
	Kind      string `json:"kind"`
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	KRI       string `json:"kri"`
	Summary   string `json:"summary"`
	Shadow    bool   `json:"shadow,omitempty"`
}

func (s *site) policies(a *ask) (*view, error) {
	n, err := a.pageNumber()
	if err != nil {
		return nil, err
	}
	data := policiesData{Q: strings.TrimSpace(a.form.Get("q"))}
	if text := a.form.Get("kind"); text != "" {
		kind, err := find.Kind(a.View.Kinds(), text)
		if err != nil {
			return nil, err
		}
		data.Kind = kind.Name
	}
	all := a.View.Policies(a.mesh)
	data.All = len(all)
	counts := map[string]int{}
	words, err := wordsOf(data.Q)
	if err != nil {
		return nil, err
	}
	var selected []*resource.Policy
	for _, p := range all {
		if !policyHasWords(p, words) {
			continue
		}
		counts[p.Kind]++
		if data.Kind == "" || p.Kind == data.Kind {
			selected = append(selected, p)
		}
	}
	for _, kind := range a.View.Kinds().Names() {
		if counts[kind] > 0 || kind == data.Kind {
			data.Kinds = append(data.Kinds, kindCount{kind, with(s.ofMesh(a.mesh, "policies"), "kind", kind, "q", data.Q), counts[kind], kind == data.Kind})
		}
	}
	slices.SortFunc(data.Kinds, func(a, b kindCount) int { return strings.Compare(a.Kind, b.Kind) })
	found := s.check(a.State, false)
	data.Findings = found.ready()
	data.Pager = a.pager(n, len(selected))
	answer := policiesAnswer{Total: len(selected), Page: n, Pages: data.Pager.Pages, Policies: []policySummary{}}
	for _, p := range selected[data.Pager.from:data.Pager.to] {
		row := policyRow{Kind: p.Kind, Name: p.Qualified(), Href: s.ofPolicy(&p.Meta), Target: inspect.PolicySummary(p), Informs: p.Shadow()}
		if data.Findings {
			row.Findings = found.count(&p.Meta)
		}
		data.Rows = append(data.Rows, row)
		answer.Policies = append(answer.Policies, policySummary{p.Kind, p.Mesh, p.Namespace, p.Name, a.View.Semantics().KRI(p.KRI(), &p.Meta), row.Target, p.Shadow()})
	}
	return &view{Title: "Policies", Section: "policies", Data: data, JSON: answer}, nil
}

// policyHasWords reports whether each word is a part of the name, the kind, the
// targetRef's name, or a value of its tags or labels.
func policyHasWords(p *resource.Policy, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !contains(p.Name, word) && !contains(p.Namespace, word) && !contains(p.Kind, word) && !contains(inspect.PolicySummary(p), word) && !hasLabel(p.Labels, word)
	})
}

func hasLabel(labels resource.Tags, word string) bool {
	return slices.ContainsFunc(labels, func(l resource.Tag) bool { return contains(l.Value, word) })
}
