package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/choices"
	"github.com/meshmatch/meshmatch/core/internal/variant"
)

// VariantSet contains the variants of one resource name. The same constraints
// and contents are also used as the fragments of a resource (SPEC 9).
type VariantSet []VariantOf

// VariantOf is one variant or fragment. Constraints may violate the rules of
// SPEC 9.1.
type VariantOf struct {
	Constraints Constraints
	Content     map[string]any
}

// String returns the set for a message.
func (s VariantSet) String() string {
	var b strings.Builder
	for i, v := range s {
		content, err := json.Marshal(v.Content)
		if err != nil {
			content = []byte(err.Error())
		}
		fmt.Fprintf(&b, "[%d] %v: %s\n", i, v.Constraints, content)
	}
	return b.String()
}

// NewVariantSet decodes a set of up to six variants over three keys, with up to
// three values each.
func NewVariantSet(data []byte) VariantSet {
	c := choices.New(data)
	mode := c.Below(4) // 0: any constraints, 1: the cells of a grid, 2: some are invalid, 3: the last one is the remainder
	set := make(VariantSet, c.Below(7))
	for i := range set {
		switch {
		case mode == 1:
			set[i].Constraints = gridCell(c)
		case mode == 3 && i > 0 && i == len(set)-1:
			set[i].Constraints = noneOf(set[:i])
		default:
			set[i].Constraints = constraints(c, 3, mode == 2)
		}
		content, _ := contentTree(c, 2).(map[string]any)
		set[i].Content = content
		if content == nil {
			set[i].Content = map[string]any{}
		}
	}
	return set
}

// constraints returns a constraint of at most depth+1 levels.
func constraints(c *choices.Choices, depth int, flawed bool) Constraints {
	if flawed && c.Rarely(20) {
		return nil
	}
	shape := c.Below(8)
	if depth == 0 {
		shape %= 4
	}
	switch shape {
	case 0:
		return &discoveryv3.DynamicParameterConstraints{}
	case 1, 2, 3:
		return singleConstraint(c, flawed)
	case 4:
		return &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{
			NotConstraints: constraints(c, depth-1, flawed),
		}}
	}
	list := &discoveryv3.DynamicParameterConstraints_ConstraintList{}
	for range c.Below(4) {
		list.Constraints = append(list.Constraints, constraints(c, depth-1, flawed))
	}
	if flawed && c.Rarely(20) {
		list = nil
	}
	if shape == 5 {
		return &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{OrConstraints: list}}
	}
	return conjunction(list)
}

// noneOf returns a constraint that accepts all parameters that no variant
// accepts.
func noneOf(set VariantSet) Constraints {
	list := &discoveryv3.DynamicParameterConstraints_ConstraintList{}
	for _, v := range set {
		list.Constraints = append(list.Constraints, &discoveryv3.DynamicParameterConstraints{
			Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{NotConstraints: v.Constraints},
		})
	}
	return conjunction(list)
}

func conjunction(list *discoveryv3.DynamicParameterConstraints_ConstraintList) Constraints {
	return &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{AndConstraints: list}}
}

func singleConstraint(c *choices.Choices, flawed bool) Constraints {
	single := &discoveryv3.DynamicParameterConstraints_SingleConstraint{Key: choices.Pick(c, "env", "version", "zone")}
	if flawed && c.Rarely(20) {
		single.Key = ""
	}
	switch value := choices.Pick(c, "", "a", "b", "exists", "none"); {
	case value == "exists":
		single.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_{
			Exists: &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists{},
		}
	case value == "none" && flawed:
	default:
		single.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Value{Value: value}
	}
	return &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: single}}
}

// gridCell returns a constraint that names each key once; two such constraints
// often exclude each other.
func gridCell(c *choices.Choices) Constraints {
	list := &discoveryv3.DynamicParameterConstraints_ConstraintList{}
	for _, key := range []string{"env", "version"} {
		single := &discoveryv3.DynamicParameterConstraints_SingleConstraint{Key: key}
		cell := &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: single}}
		answer := c.Below(4)
		if answer == 0 { // absent
			single.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_{
				Exists: &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists{},
			}
			cell = &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{NotConstraints: cell}}
		} else {
			single.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Value{Value: fmt.Sprint("v", answer)}
		}
		list.Constraints = append(list.Constraints, cell)
	}
	return conjunction(list)
}

// contentTree returns a content with few keys, so that contents have mappings, lists and
// scalars at the same places.
func contentTree(c *choices.Choices, depth int) any {
	switch shape := c.Below(4); {
	case depth == 2 || shape == 3 && depth > 0:
		mapping := map[string]any{}
		for range c.Below(3) {
			mapping[choices.Pick(c, "x", "y")] = contentTree(c, depth-1)
		}
		return mapping
	case shape == 2:
		list := []any{}
		for range c.Below(3) {
			list = append(list, choices.Pick(c, "p", "q"))
		}
		return list
	}
	return choices.Pick(c, "s", "t")
}

// CompareVariants compares package variant with the reference for one set, for all
// combinations of parameters that the set can distinguish.
func CompareVariants(s VariantSet) error {
	var given []Constraints
	var read []variant.Constraint
	for i, v := range s {
		c, err := variant.FromProto(v.Constraints)
		if flaw := ValidConstraints(v.Constraints); (err == nil) != (flaw == nil) || err != nil && !errors.Is(err, variant.ErrConstraint) {
			return fmt.Errorf("[%d] is read with %v, the reference has %v", i, err, flaw)
		}
		if err == nil {
			given, read = append(given, v.Constraints), append(read, c)
		}
	}
	space := ParameterSpace(given)
	for i, c := range read {
		if err := compareConstraint(given[i], c, space); err != nil {
			return fmt.Errorf("valid constraint %d: %w", i, err)
		}
		for j := range i {
			same, err := variant.SameVariant(read[j], c)
			if want := SameVariant(given[j], given[i]); err != nil || same != want {
				return fmt.Errorf("valid constraints %d and %d are the same: %v, %v; want %v", j, i, same, err, want)
			}
		}
	}
	if err := compareSet(given, read, space); err != nil {
		return err
	}
	if len(read) < len(s) {
		return nil // some constraints are invalid
	}
	return compareCompiled(s, read, space)
}

func compareConstraint(given Constraints, c variant.Constraint, space []map[string]string) error {
	form, err := c.Canonical()
	if err != nil {
		return err
	}
	if err := ValidConstraints(form.Proto()); err != nil {
		return fmt.Errorf("its canonical form is invalid: %w", err)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var again variant.Constraint
	if err := conf.Unmarshal(data, &again); err != nil || !proto.Equal(again.Proto(), c.Proto()) {
		return fmt.Errorf("from %s it is %v, %v", data, again.Proto(), err)
	}
	if named := NamedKeys(given); !slices.Equal(c.Keys(), named) {
		return fmt.Errorf("it names %v, want %v", c.Keys(), named)
	}
	for _, p := range space {
		want := Accepts(given, p)
		if c.Accepts(p) != want || form.Accepts(p) != want || Accepts(form.Proto(), p) != want {
			return fmt.Errorf("it accepts %v: %v, its canonical form %s: %v; want %v", p, c.Accepts(p), form, form.Accepts(p), want)
		}
	}
	return nil
}

func compareSet(given []Constraints, read []variant.Constraint, space []map[string]string) error {
	checked := CheckVariants(given)
	set, err := variant.NewSet(read)
	var keys *variant.KeysError
	var ambiguity *variant.AmbiguityError
	if sameKeys := !errors.As(err, &keys); sameKeys != checked.SameKeys {
		return fmt.Errorf("the same keys: %v, want %v", sameKeys, checked.SameKeys)
	}
	if ambiguous := errors.As(err, &ambiguity); ambiguous != (len(checked.Ambiguous) > 0) {
		return fmt.Errorf("ambiguous: %v, %v, want %v", ambiguous, err, checked.Ambiguous)
	}
	if ambiguity != nil && (!Accepts(given[ambiguity.First], ambiguity.Parameters) || !Accepts(given[ambiguity.Second], ambiguity.Parameters)) {
		return fmt.Errorf("the parameters do not match both variants: %w", ambiguity)
	}
	if err != nil {
		if checked.Accepted() {
			return err
		}
		return nil
	}
	sent := make([]Constraints, set.Len())
	for i := range sent {
		sent[i] = set.Constraint(i).Proto()
		if err := ValidConstraints(sent[i]); err != nil {
			return fmt.Errorf("the canonical form %d: %w", i, err)
		}
	}
	if !CheckVariants(sent).Accepted() {
		return fmt.Errorf("the canonical set %v is not accepted", sent)
	}
	for _, p := range space {
		want := ChooseVariant(given, p)
		got, ok := set.Choose(p)
		if !ok {
			got = -1
		}
		if got != want || ChooseVariant(sent, p) != want {
			return fmt.Errorf("%v has variant %d, its canonical form %d, want %d", p, got, ChooseVariant(sent, p), want)
		}
	}
	uncovered := set.Uncovered()
	if (uncovered != nil) != (len(checked.Uncovered) > 0) || uncovered != nil && ChooseVariant(given, uncovered) >= 0 {
		return fmt.Errorf("uncovered %v, want one of %v", uncovered, checked.Uncovered)
	}
	return nil
}

func compareCompiled(s VariantSet, read []variant.Constraint, space []map[string]string) error {
	fragments := make([]variant.Fragment, len(s))
	reference := make([]Fragment, len(s))
	for i, v := range s {
		fragments[i] = variant.Fragment{Constraints: read[i], Content: v.Content}
		reference[i] = Fragment(v)
	}
	set, compiled, err := variant.Compile(fragments)
	if err != nil {
		return err
	}
	constraints := make([]variant.Constraint, len(compiled))
	for i := range compiled {
		constraints[i] = set.Constraint(i)
	}
	admitted, err := variant.NewSet(constraints)
	if err != nil {
		return fmt.Errorf("what is compiled is not admitted: %w", err)
	}
	for i := range compiled {
		if sent := admitted.Constraint(i); sent.String() != set.Constraint(i).String() {
			return fmt.Errorf("admitted, the compiled %s is %s", set.Constraint(i), sent)
		}
	}
	if warnings := set.Warnings(); len(warnings) > 0 {
		return fmt.Errorf("what is compiled has warnings: %v", warnings)
	}
	contents := map[string]bool{}
	for _, p := range space {
		want, err := json.Marshal(FragmentContent(reference, p))
		if err != nil {
			return err
		}
		contents[string(want)] = true
		chosen, ok := set.Choose(p)
		if !ok {
			return fmt.Errorf("%v has no compiled variant", p)
		}
		got, err := json.Marshal(compiled[chosen])
		if err != nil || string(got) != string(want) {
			return fmt.Errorf("%v has the content %s, %v, want %s", p, got, err, want)
		}
	}
	if len(compiled) != len(contents) {
		return fmt.Errorf("%d compiled variants, want one for each of %d contents", len(compiled), len(contents))
	}
	return nil
}
