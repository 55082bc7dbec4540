package pages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// dataplanesData is the data of the list of dataplanes.
type dataplanesData struct {
	Q        string
	All      int // dataplanes of the mesh
	Rows     []dataplaneRow
	Pager    pager
	Proxies  bool // the state of proxies is known
	Findings bool // the number of findings is known
	Pending  bool // the search is for findings, which are not known yet
	Words    []string
}

// dataplaneRow is a row of the list of dataplanes.
type dataplaneRow struct {
	Name, Href, Services, Zone, Labels, State string
	Findings                                  int
}

// dataplanesAnswer is the JSON of the list.
type dataplanesAnswer struct {
	Total      int                `json:"total"` // that match
	Page       int                `json:"page"`
	Pages      int                `json:"pages"`
	Dataplanes []dataplaneSummary `json:"dataplanes"`
}

type dataplaneSummary struct {
	KRI       string   `json:"kri"`
	Mesh      string   `json:"mesh"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Services  []string `json:"services"`
	Zone      string   `json:"zone,omitempty"`
	State     string   `json:"state,omitempty"` // converged, pending, absent or silent
}

func (s *site) dataplanes(a *ask) (*view, error) {
	n, err := a.pageNumber()
	if err != nil {
		return nil, err
	}
	all := a.View.Dataplanes(a.mesh)
	data := dataplanesData{Q: strings.TrimSpace(a.form.Get("q")), All: len(all), Proxies: s.Proxies != nil}
	found := s.check(a.State, false)
	filter, err := newFilter(data.Q)
	if err != nil {
		return nil, err
	}
	data.Words = filter.words
	patience := 50 * time.Millisecond // the first page has the numbers of findings if they are there soon
	if len(filter.findings) > 0 {
		patience = longest / 2
	}
	data.Findings = found.wait(a.Context(), patience)
	data.Pending = len(filter.findings) > 0 && !data.Findings
	selected := all
	if !filter.empty() && !data.Pending {
		selected = lists.Filter(all, func(d *resource.Dataplane) bool { return filter.selects(d, found) })
	}
	data.Pager = a.pager(n, len(selected))
	answer := dataplanesAnswer{Total: len(selected), Page: n, Pages: data.Pager.Pages, Dataplanes: []dataplaneSummary{}}
	for _, d := range selected[data.Pager.from:data.Pager.to] {
		services := servicesOf(d)
		row := dataplaneRow{Name: d.Qualified(), Href: s.ofDataplane(&d.Meta), Services: strings.Join(services, ", "), Zone: enforce.ZoneOf(d), Labels: labelsOf(d)}
		summary := dataplaneSummary{KRI: d.KRI(""), Mesh: d.Mesh, Namespace: d.Namespace, Name: d.Name, Services: services, Zone: row.Zone}
		if s.Proxies != nil {
			row.State = s.Proxies.NodeState(summary.KRI).String()
			summary.State = row.State
		}
		if data.Findings {
			row.Findings = found.count(&d.Meta)
		}
		data.Rows = append(data.Rows, row)
		answer.Dataplanes = append(answer.Dataplanes, summary)
	}
	return &view{Title: "Dataplanes", Section: "dataplanes", Data: data, JSON: answer}, nil
}

// servicesOf returns the services of a dataplane's inbounds or gateway, each once.
func servicesOf(d *resource.Dataplane) []string {
	services := []string{}
	add := func(tags resource.Tags) {
		if service := tags.Value(resource.ServiceTag); service != "" && !slices.Contains(services, service) {
			services = append(services, service)
		}
	}
	for i := range d.Inbounds {
		add(d.Inbounds[i].Tags)
	}
	if d.Gateway != nil {
		add(d.Gateway.Tags)
	}
	return services
}

// maxLabels is the length of the labels in a row of a list.
const maxLabels = 120

// labelsOf returns the labels without those that other columns have.
func labelsOf(d *resource.Dataplane) string {
	own := lists.Filter(d.Labels, func(label resource.Tag) bool {
		return !strings.HasPrefix(label.Key, "kuma.io/") && !strings.HasPrefix(label.Key, "k8s.kuma.io/")
	})
	parts := lists.Map(own, func(label resource.Tag) string { return label.Key + "=" + label.Value })
	return diag.Clip(strings.Join(parts, " "), maxLabels)
}

// filter is a search for dataplanes: words that must all be found, and findings.
type filter struct {
	words, findings []string
}

// findingWord begins a word that asks for a finding of a code or a class.
const findingWord = "finding:"

func newFilter(q string) (filter, error) {
	var f filter
	words, err := wordsOf(q)
	for _, word := range words {
		if code, ok := strings.CutPrefix(word, findingWord); ok {
			f.findings = append(f.findings, code)
		} else {
			f.words = append(f.words, word)
		}
	}
	return f, err
}

// maxWords is the number of different words of a search. Each word is looked for in all
// resources, while other pages wait.
const maxWords = 20

// wordsOf returns the words of a search in lower case, each once.
func wordsOf(q string) ([]string, error) {
	var words []string
	for word := range strings.FieldsSeq(strings.ToLower(q)) {
		if slices.Contains(words, word) {
			continue
		}
		if len(words) == maxWords {
			return nil, badRequest(fmt.Sprintf("a search has at most %d different words", maxWords))
		}
		words = append(words, word)
	}
	return words, nil
}

func (f *filter) empty() bool { return len(f.words)+len(f.findings) == 0 }

// selects reports whether each word is a part of the name, a service, the zone or a
// label's value, regardless of letter case. Each chosen finding must be there too.
func (f *filter) selects(d *resource.Dataplane, found *checked) bool {
	return f.hasWords(d) && !slices.ContainsFunc(f.findings, func(word string) bool {
		return !slices.ContainsFunc(found.at[d.Pos], func(i int) bool { return word == "" || matches(&found.all[i], word) })
	})
}

// hasWords reports whether each word is a part of a text of the dataplane.
func (f *filter) hasWords(d *resource.Dataplane) bool {
	return !slices.ContainsFunc(f.words, func(word string) bool { return !hasWord(d, word) })
}

func hasWord(d *resource.Dataplane, word string) bool {
	if contains(d.Name, word) || contains(d.Namespace, word) || strings.Contains(word, "/") && contains(d.Qualified(), word) {
		return true
	}
	for i := range d.Inbounds {
		if hasTag(d.Inbounds[i].Tags, word) {
			return true
		}
	}
	return d.Gateway != nil && hasTag(d.Gateway.Tags, word) || hasLabel(d.Labels, word) || contains(enforce.ZoneOf(d), word)
}

func hasTag(tags resource.Tags, word string) bool {
	return contains(tags.Value(resource.ServiceTag), word)
}

// contains reports whether a text contains a word, which is in lower case, regardless of
// the letter case of the text. It allocates nothing for a text in lower case.
func contains(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.Contains(strings.ToLower(text), word)
		}
	}
	return false
}

// noMatch is the sentence, without its period, of a search without an answer.
func (d dataplanesData) noMatch() string {
	words, where := "this", ""
	if len(d.Words) > 1 {
		words = "all of these words"
	}
	if d.Pager.Previous != "" {
		where = " on this page"
	}
	return "No dataplane of this mesh has " + words + " in its name, services, zone or labels" + where
}
