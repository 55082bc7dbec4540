package diff

import (
	"bytes"
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// flatConf is a merged conf by the fields of its leaves, without a place. Field "" is the conf
// as a whole. A nil flatConf has none.
type flatConf struct{ fields map[string]leaf }

func (f *flatConf) leaves() map[string]leaf {
	if f == nil {
		return nil
	}
	return f.fields
}

// flats has the flat confs of one side. Outbounds and dataplanes share confs, so each is
// flattened once.
type flats struct {
	options inspect.Options // how origins are shown
	view    side
	mesh    string
	known   map[flatKey]*flatConf
}

type flatKey struct {
	section *resource.Section
	conf    *results.Effective
}

func newFlats(s side, mesh string, source bool) *flats {
	return &flats{options: inspect.Options{Source: source, Semantics: s.view.Semantics()}, view: s, mesh: mesh, known: map[flatKey]*flatConf{}}
}

// flatConfOf returns the flat conf of one of a kind's sections; nil if there is no conf.
func (f *flats) flatConfOf(section *resource.Section, e *results.Effective) *flatConf {
	if e == nil {
		return nil
	}
	key := flatKey{section, e}
	flat, known := f.known[key]
	if !known {
		flat = &flatConf{map[string]leaf{"": {value: json.RawMessage(`{}`)}}}
		tree := content.Tree(e.Conf)
		for pointer, o := range e.Fields() {
			origin := f.options.Origin(o, section)
			flat.fields[pointer] = leaf{value: content.Encode(inspect.Lookup(tree, pointer)), origin: &origin}
		}
		for pointer, c := range inspect.CollectorsOf(f.view.view, f.mesh, e.Conf) {
			flat.fields[pointer+CollectorField] = leaf{value: content.Encode(c)}
		}
		f.known[key] = flat
	}
	return flat
}

// flatPairs has the fields that differ between two flat confs. Each pair is compared once.
type flatPairs map[[2]*flatConf][]string

func (known flatPairs) differ(before, after *flatConf) []string {
	if before == after {
		return nil
	}
	key := [2]*flatConf{before, after}
	fields, has := known[key]
	if !has {
		fields = differing(before.leaves(), after.leaves())
		known[key] = fields
	}
	return fields
}

// differing returns the keys of leaves that have other values, or that only one side has.
func differing[K comparable](before, after map[K]leaf) (keys []K) {
	for key := range before {
		if other, both := after[key]; !both || !bytes.Equal(before[key].value, other.value) {
			keys = append(keys, key)
		}
	}
	for key := range after {
		if _, both := before[key]; !both {
			keys = append(keys, key)
		}
	}
	return keys
}
