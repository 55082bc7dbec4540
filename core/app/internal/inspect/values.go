package inspect

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Values is the distribution of an effective value over the dataplanes of a mesh (SPEC 15).
type Values struct {
	Semantics  semantics.Semantics `json:"semantics"`
	Kind       string              `json:"kind"`
	Field      string              `json:"field"`      // JSON pointer; "#" in place of the index of an element
	Dataplanes int                 `json:"dataplanes"` // of the mesh
	// Values are sorted: the value of most dataplanes is first. A dataplane that has
	// several values, at different places, is in each of them.
	Values []ValueCount `json:"values"`
	// NotSet is the number of dataplanes that have the field at no place.
	NotSet int `json:"notSet"`
	// Fields are all fields that dataplanes of the mesh have, sorted. They are the ones
	// that can be asked for.
	Fields []string `json:"fields"`

	unset []*resource.Dataplane
}

// ValueCount is a value with the dataplanes that have it.
type ValueCount struct {
	Value json.RawMessage `json:"value"`
	Count int             `json:"count"`
	// First are the KRIs of the first dataplanes, sorted by identity.
	First []string `json:"first"`

	all []*resource.Dataplane
}

// All returns the dataplanes that have the value, sorted by identity. The caller must not
// change the slice.
func (v *ValueCount) All() []*resource.Dataplane { return v.all }

// Unset returns the dataplanes that have the field at no place.
func (v *Values) Unset() []*resource.Dataplane { return v.unset }

// firstOfValue is how many KRIs an answer has for each value.
const firstOfValue = 10

// fieldPointer returns the JSON pointer of a field that is given as a pointer or as a path
// with dots, such as http.requestTimeout. The index of an element becomes "#".
func fieldPointer(field string) string {
	if field != "" && field[0] != '/' {
		field = "/" + strings.ReplaceAll(field, ".", "/")
	}
	return words.WithoutIndexes(field)
}

// NewValues returns the distribution of a field of a kind, for what is enforced. Field is
// as for fieldPointer. Without a field the answer has the fields alone.
func NewValues(view *core.View, mesh string, kind *resource.Kind, field string) *Values {
	v := valuer{view: view, kind: kind, field: fieldPointer(field), known: map[valueSource][]int{}, number: map[string]int{}, fields: map[string]bool{}}
	dataplanes := view.Dataplanes(mesh)
	answer := &Values{Semantics: view.Semantics(), Kind: kind.Name, Field: v.field, Dataplanes: len(dataplanes), Values: []ValueCount{}, Fields: []string{}}
	for _, d := range dataplanes {
		numbers := v.valuesFor(d)
		for _, n := range numbers {
			v.values[n].all = append(v.values[n].all, d)
		}
		if len(numbers) == 0 {
			answer.unset = append(answer.unset, d)
		}
	}
	for i := range v.values {
		value := &v.values[i]
		value.Count, value.First = len(value.all), []string{}
		for _, d := range value.all[:min(firstOfValue, len(value.all))] {
			value.First = append(value.First, DataplaneKRI(view, d))
		}
	}
	slices.SortFunc(v.values, func(a, b ValueCount) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(string(a.Value), string(b.Value)))
	})
	answer.Values = append(answer.Values, v.values...)
	answer.NotSet = len(answer.unset)
	answer.Fields = append(answer.Fields, slices.SortedFunc(maps.Keys(v.fields), ComparePointers)...)
	return answer
}

// valuer collects the values of a field. Dataplanes share configs, and the outbounds of
// destinations, so each of these is examined once.
type valuer struct {
	view   *core.View
	kind   *resource.Kind
	field  string
	known  map[valueSource][]int
	number map[string]int // of a value, by its JSON
	values []ValueCount
	fields map[string]bool
}

// valueSource contains the inputs of the values of a dataplane.
type valueSource struct {
	config *results.Config
	// outbounds is the first outbound of destinations; lists of outbounds are shared.
	outbounds any
}

// valuesFor returns the numbers of the values that a dataplane has, each once.
func (v *valuer) valuesFor(d *resource.Dataplane) []int {
	config, err := v.view.Config(d, v.kind.Name, core.Enforced)
	if err != nil {
		return nil
	}
	source := valueSource{config: config}
	if list := v.view.DestinationOutbounds(d); len(list) > 0 && v.kind.To != nil {
		source.outbounds = &list[0]
	}
	numbers, known := v.known[source]
	if known {
		return numbers
	}
	add := func(e *results.Effective) { numbers = v.add(numbers, e) }
	add(config.Default)
	for _, outbound := range Outbounds(v.view, config, d, core.Enforced) {
		add(outbound.Effective)
		for i := range outbound.Routes {
			add(outbound.Routes[i].Effective)
		}
	}
	views := ruleviews.New(Options{}.Limits, false)
	for _, inbound := range config.Inbounds {
		for i := range inbound.Rules {
			add(inbound.Rules[i].Effective)
		}
		if inbound.From != nil {
			list, _ := views.RulesOf(inbound.From) // a view past its limit has no value
			for i := range list {
				add(list[i].Effective)
			}
		}
		for i := range inbound.Unmerged {
			r := &inbound.Unmerged[i]
			add(results.Merge(v.kind.Rules.Conf, []results.Contribution{*r}))
		}
	}
	v.known[source] = numbers
	return numbers
}

// add adds the numbers of the values of a conf.
func (v *valuer) add(numbers []int, e *results.Effective) []int {
	if e == nil {
		return numbers
	}
	var tree any
	for pointer := range e.Fields() {
		field := words.WithoutIndexes(pointer)
		v.fields[field] = true
		if field != v.field {
			continue
		}
		if tree == nil {
			tree = content.Tree(e.Conf)
		}
		value := content.Encode(Lookup(tree, pointer))
		n, known := v.number[string(value)]
		if !known {
			n = len(v.values)
			v.number[string(value)] = n
			v.values = append(v.values, ValueCount{Value: value})
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
