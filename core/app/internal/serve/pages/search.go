package pages

import (
	"context"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// searchData is the data of the page of a search.
type searchData struct {
	Q      string
	Groups []searchGroup
	None   bool
}

// searchGroup is the results of one kind.
type searchGroup struct {
	Title   string
	Results []searchResult
	More    string // the link to all of them
	Total   int
}

type searchResult struct{ Text, Detail, Href string }

// searchAnswer is the JSON of a search.
type searchAnswer struct {
	Results []searchHit `json:"results"`
}

type searchHit struct {
	Kind string `json:"kind"`
	Mesh string `json:"mesh"`
	Name string `json:"name"`
	Href string `json:"href"`
}

// maxResults is the number of results of each kind.
const maxResults = 20

// search finds dataplanes, policies and services by words, and resources by their KRI.
func (s *site) search(a *ask) (*view, error) {
	q := strings.TrimSpace(a.form.Get("q"))
	v := &view{Title: "Search", Section: "search"}
	data, answer := searchData{Q: q}, searchAnswer{Results: []searchHit{}}
	if q != "" {
		f, err := newFilter(q)
		if err != nil {
			return nil, err
		}
		for _, mesh := range a.View.Meshes() {
			if err := context.Cause(a.Context()); err != nil {
				return nil, err
			}
			for _, group := range []searchGroup{a.searchKRI(mesh, q), a.searchDataplanes(mesh, f), a.searchServices(mesh, f), a.searchPolicies(mesh, f)} {
				if len(group.Results) == 0 {
					continue
				}
				hits := lists.Map(group.Results, func(r searchResult) searchHit { return searchHit{strings.ToLower(group.Title), mesh, r.Text, r.Href} })
				answer.Results = append(answer.Results, hits...)
				if len(a.View.Meshes()) > 1 {
					group.Title += " of " + mesh
				}
				data.Groups = append(data.Groups, group)
			}
		}
		data.None = len(data.Groups) == 0
	}
	v.Data, v.JSON = data, answer
	return v, nil
}

func (g *searchGroup) add(r searchResult) {
	if g.Total++; len(g.Results) < maxResults {
		g.Results = append(g.Results, r)
	}
}

// searchKRI finds the resource with a KRI.
func (a *ask) searchKRI(mesh, q string) searchGroup {
	g := searchGroup{Title: "KRI"}
	if !strings.HasPrefix(q, "kri_") {
		return g
	}
	if id, _, ok := resource.ParseDataplaneKRI(q); ok && id.Mesh == mesh {
		if d := a.View.Dataplane(id); d != nil {
			g.add(searchResult{d.Qualified(), q, a.site.ofDataplane(&d.Meta)})
		}
	}
	for _, p := range a.View.Policies(mesh) {
		if p.KRI() == q || a.View.Semantics().KRI(p.KRI(), &p.Meta) == q {
			g.add(searchResult{p.Qualified(), p.Kind, a.site.ofPolicy(&p.Meta)})
		}
	}
	for _, d := range a.View.Dataplanes(mesh) { // a KRI with a section, or with a display name
		if g.Total == 0 && strings.HasPrefix(q, d.KRI("")) {
			g.add(searchResult{d.Qualified(), d.KRI(""), a.site.ofDataplane(&d.Meta)})
		}
	}
	return g
}

func (a *ask) searchDataplanes(mesh string, f filter) searchGroup {
	g := searchGroup{Title: "Dataplanes", More: with(a.site.ofMesh(mesh, "dataplanes"), "q", strings.Join(f.words, " "))}
	for _, d := range a.View.Dataplanes(mesh) {
		if len(f.words) > 0 && f.hasWords(d) {
			g.add(searchResult{d.Qualified(), strings.Join(servicesOf(d), ", "), a.site.ofDataplane(&d.Meta)})
		}
	}
	return g
}

func (a *ask) searchServices(mesh string, f filter) searchGroup {
	g := searchGroup{Title: "Services"}
	seen, services := map[string]bool{}, find.NewServices(a.View, mesh)
	for _, d := range a.View.Dataplanes(mesh) {
		for i := range d.Inbounds {
			service := services.NameOf(d, i)
			if service == "" || seen[service] {
				continue
			}
			seen[service] = true
			if len(f.words) > 0 && !slices.ContainsFunc(f.words, func(word string) bool { return !contains(service, word) }) {
				g.add(searchResult{service, "who may call it", with(a.site.ofMesh(mesh, "access"), "to", service)})
			}
		}
	}
	slices.SortFunc(g.Results, func(a, b searchResult) int { return strings.Compare(a.Text, b.Text) })
	return g
}

func (a *ask) searchPolicies(mesh string, f filter) searchGroup {
	g := searchGroup{Title: "Policies", More: with(a.site.ofMesh(mesh, "policies"), "q", strings.Join(f.words, " "))}
	for _, p := range a.View.Policies(mesh) {
		if len(f.words) > 0 && policyHasWords(p, f.words) {
			g.add(searchResult{p.Qualified(), p.Kind, a.site.ofPolicy(&p.Meta)})
		}
	}
	return g
}
