package pages

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// valuesData is the data of the distribution of a value.
type valuesData struct {
	*inspect.Values // nil: no kind is chosen
	Asked           string
	Kinds           []kindCount
	FieldLinks      []link
	Rows            []valueRow
	NotSetHref      string
	NotSetPercent   string
	// Chosen is the value whose dataplanes are listed.
	Chosen     string
	ChosenSet  bool
	NotSetHere bool // the listed dataplanes do not have the field
	Dataplanes []dataplaneRow
	Pager      pager
}

// valueRow is a value with its dataplanes.
type valueRow struct {
	Text, Href string
	Count      int
	Percent    string
	Current    bool
	First      []link
}

// notSet is the parameter value for dataplanes without the field. No JSON is like it.
const notSet = "(not set)"

func (s *site) values(a *ask) (*view, error) {
	n, err := a.pageNumber()
	if err != nil {
		return nil, err
	}
	v := &view{Title: "Values", Section: "values"}
	data := valuesData{Asked: a.form.Get("field")}
	here := s.ofMesh(a.mesh, "values")
	var kind *resource.Kind
	if name := a.form.Get("kind"); name != "" {
		if kind, err = find.Kind(a.View.Kinds(), name); err != nil {
			return nil, err
		}
	}
	data.Kinds = kindsOf(a, here, kind)
	v.JSON = struct {
		Kinds []string `json:"kinds"`
	}{kindNames(data.Kinds)}
	if kind == nil {
		v.Data = data
		return v, nil
	}
	data.Values = inspect.NewValues(a.View, a.mesh, kind, data.Asked)
	v.JSON = data.Values
	data.FieldLinks = lists.Map(data.Fields, func(field string) link {
		return link{field, with(here, "kind", kind.Name, "field", field), field == data.Field}
	})
	chosen, listed := a.form.Get("value"), []*resource.Dataplane(nil)
	for i := range data.Values.Values {
		value := &data.Values.Values[i]
		row := valueRow{
			Text: rawText(value.Value), Count: value.Count, Percent: percent(value.Count, data.Values.Dataplanes),
			Href: with(here, "kind", kind.Name, "field", data.Field, "value", string(value.Value)), Current: chosen == string(value.Value),
		}
		row.First = lists.Map(value.All()[:min(3, value.Count)], func(d *resource.Dataplane) link { return link{d.Qualified(), s.ofDataplane(&d.Meta), false} })
		if row.Current {
			data.Chosen, data.ChosenSet, listed = row.Text, true, value.All()
		}
		data.Rows = append(data.Rows, row)
	}
	if data.NotSet > 0 {
		data.NotSetPercent = percent(data.NotSet, data.Values.Dataplanes)
		data.NotSetHref = with(here, "kind", kind.Name, "field", data.Field, "value", notSet)
		if chosen == notSet {
			data.Chosen, data.ChosenSet, data.NotSetHere, listed = notSet, true, true, data.Unset()
		}
	}
	data.Pager = a.pager(n, len(listed))
	data.Dataplanes = lists.Map(listed[data.Pager.from:data.Pager.to], func(d *resource.Dataplane) dataplaneRow {
		return dataplaneRow{Name: d.Qualified(), Href: s.ofDataplane(&d.Meta), Services: strings.Join(servicesOf(d), ", "), Zone: enforce.ZoneOf(d)}
	})
	v.Data = data
	return v, nil
}

// kindsOf returns the kinds with policies in the mesh, and the chosen one, each with a link
// that chooses it.
func kindsOf(a *ask, here string, chosen *resource.Kind) (kinds []kindCount) {
	counts := map[string]int{}
	for _, p := range a.View.Policies(a.mesh) {
		counts[p.Kind]++
	}
	for _, k := range a.View.Kinds().All() { // sorted by name
		if counts[k.Name] > 0 || k == chosen {
			kinds = append(kinds, kindCount{k.Name, with(here, "kind", k.Name), counts[k.Name], k == chosen})
		}
	}
	return kinds
}

func kindNames(kinds []kindCount) []string {
	names := []string{} // not null in JSON
	for _, k := range kinds {
		names = append(names, k.Kind)
	}
	return names
}

// field is the text of the field to ask for.
func (d valuesData) field() string {
	if d.Values == nil {
		return d.Asked
	}
	return d.Field
}
