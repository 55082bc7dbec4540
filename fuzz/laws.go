package fuzz

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// law is what holds for every sequence of Confs of a type, lowest priority
// first.
type law struct {
	name  string
	holds func(confs []resource.Conf) error
}

// lawsOf returns the laws of a Conf type; t is the struct behind it.
func lawsOf(c resource.ConfType, t reflect.Type) []law {
	l := &confLaws{
		ConfType: c,
		empty:    func() resource.Conf { return reflect.New(t).Interface() },
		opaque:   hasOpaque(t),
	}
	all := []law{
		{"merging is what the reference says", l.reference},
		{"an empty conf changes nothing", l.identity},
		{"prefixes can be merged beforehand", l.prefixes},
		{"a complete conf stays", l.completeness},
		{"inputs and earlier results stay as they are", l.inputs},
		{"Equal, Hash and Clone agree", l.copies},
	}
	if !c.HidesBelow() {
		all = append(all,
			law{"origins alone decide, as HidesBelow is false", l.bystanders},
			law{"suffixes can be merged beforehand, as HidesBelow is false", l.suffixes},
		)
	}
	return all
}

type confLaws struct {
	resource.ConfType
	empty  func() resource.Conf
	opaque bool // a part has Equal, Hash and Clone of its own
}

// merge fills from the top, as everybody has to.
func (l *confLaws) merge(confs ...resource.Conf) resource.Merger {
	m := l.NewMerger()
	for i := len(confs) - 1; i >= 0; i-- {
		if m.Fill(confs[i], i) {
			break
		}
	}
	return m
}

func (l *confLaws) reference(confs []resource.Conf) error {
	inputs := make([]any, len(confs))
	for i, conf := range confs {
		inputs[i] = conf
	}
	want := naive.Merge(inputs...)
	m := l.merge(confs...)
	if diff := difference(parse(asText(want.Conf)), parse(asText(m.Conf()))); diff != "" {
		return fmt.Errorf("the conf differs (-reference +merged):\n%s", diff)
	}
	if diff := difference(append([]int{}, want.Origins...), m.Origins([]int{})); diff != "" {
		return fmt.Errorf("the origins differ (-reference +merged):\n%s", diff)
	}
	leaves := map[string]int{}
	for pointer, item := range m.Leaves() {
		if _, twice := leaves[pointer]; twice {
			return fmt.Errorf("the leaf %s is named twice", pointer)
		}
		leaves[pointer] = item
	}
	if diff := difference(want.Leaves, leaves); diff != "" {
		return fmt.Errorf("the leaves differ (-reference +merged):\n%s", diff)
	}
	return nil
}

func (l *confLaws) identity(confs []resource.Conf) error {
	var spaced []resource.Conf
	for _, conf := range confs {
		spaced = append(spaced, l.empty(), conf, l.empty())
	}
	return l.same(l.merge(confs...).Conf(), l.merge(spaced...).Conf(), "with empty confs between them")
}

func (l *confLaws) prefixes(confs []resource.Conf) error {
	for i := 1; i < len(confs); i++ {
		grouped := append([]resource.Conf{l.merge(confs[:i]...).Conf()}, confs[i:]...)
		if err := l.same(l.merge(confs...).Conf(), l.merge(grouped...).Conf(), fmt.Sprintf("with the first %d merged beforehand", i)); err != nil {
			return err
		}
	}
	return nil
}

func (l *confLaws) suffixes(confs []resource.Conf) error {
	for i := 1; i < len(confs); i++ {
		grouped := append(append([]resource.Conf{}, confs[:i]...), l.merge(confs[i:]...).Conf())
		if err := l.same(l.merge(confs...).Conf(), l.merge(grouped...).Conf(), fmt.Sprintf("with all but the first %d merged beforehand", i)); err != nil {
			return err
		}
	}
	return nil
}

// bystanders: items that are no origins make no difference (SPEC 6).
func (l *confLaws) bystanders(confs []resource.Conf) error {
	m := l.merge(confs...)
	var origins []resource.Conf
	for _, item := range m.Origins(nil) {
		origins = append(origins, confs[item])
	}
	return l.same(m.Conf(), l.merge(origins...).Conf(), "without those that are no origins")
}

// completeness: what comes after Fill reported complete has no effect, so that
// it may be left out, as merge does.
func (l *confLaws) completeness(confs []resource.Conf) error {
	all := l.NewMerger()
	for i := len(confs) - 1; i >= 0; i-- {
		all.Fill(confs[i], i)
	}
	return l.same(l.merge(confs...).Conf(), all.Conf(), "with what is below a complete conf")
}

func (l *confLaws) inputs(confs []resource.Conf) error {
	before := render(confs)
	first := l.merge(confs...).Conf()
	result := asText(first)
	l.merge(append([]resource.Conf{first}, confs...)...)
	l.merge(append(append([]resource.Conf{}, confs...), first)...)
	if after := render(confs); after != before {
		return fmt.Errorf("merging made the inputs\n%s", after)
	}
	if after := asText(first); after != result {
		return fmt.Errorf("a later merge made of the result %s\n%s", result, after)
	}
	return nil
}

func (l *confLaws) same(want, got resource.Conf, how string) error {
	if !l.Equal(want, got) || asText(want) != asText(got) {
		return fmt.Errorf("they merge to %s, and %s to %s", asText(want), how, asText(got))
	}
	return nil
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v, which has no JSON: %v", v, err)
	}
	return string(text)
}
