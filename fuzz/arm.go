package fuzz

import (
	"reflect"
	"slices"
	"strings"
)

// arm is the type that was chosen for a union: the field of its name may be
// there, those of other types may not (package strict).
type arm struct {
	chosen string
	others []string
}

func (a arm) is(field string) bool { return a.chosen != "" && strings.EqualFold(field, a.chosen) }

func (a arm) excludes(field string) bool {
	return !a.is(field) && slices.ContainsFunc(a.others, func(other string) bool { return strings.EqualFold(field, other) })
}

// arm chooses and sets the type of a union; for other structs nothing is
// excluded.
func (m *confMaker) arm(t reflect.Type, v reflect.Value) arm {
	for i := range t.NumField() {
		field := t.Field(i)
		if !isDiscriminator(&field) {
			continue
		}
		words := m.of(field.Type)
		if len(words) == 0 {
			break
		}
		chosen := words[m.choose(len(words))]
		v.Field(i).Set(chosen)
		a := arm{chosen: chosen.String()}
		for _, word := range words {
			a.others = append(a.others, word.String())
		}
		return a
	}
	return arm{}
}

func isDiscriminator(field *reflect.StructField) bool {
	return field.Tag.Get("policyMerge") == "discriminator"
}
