package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Constraints is a constraint on dynamic parameters in the form of the protocol (SPEC
// 9.1); nil accepts all parameters.
type Constraints = *discoveryv3.DynamicParameterConstraints

// ValidConstraints returns an error if c violates a rule of SPEC 9.1.
func ValidConstraints(c Constraints) error {
	if c == nil {
		return nil
	}
	nodes := 0
	return validConstraints(c, 1, &nodes)
}

func validConstraints(c Constraints, level int, nodes *int) error {
	*nodes++
	switch {
	case c == nil:
		return errors.New("a nil member")
	case level > 32:
		return errors.New("more than 32 levels")
	case *nodes > 10_000:
		return errors.New("more than 10,000 nodes")
	}
	var members []Constraints
	switch t := c.Type.(type) {
	case nil:
	case *discoveryv3.DynamicParameterConstraints_Constraint:
		return validSingle(t.Constraint)
	case *discoveryv3.DynamicParameterConstraints_NotConstraints:
		members = []Constraints{t.NotConstraints}
	case *discoveryv3.DynamicParameterConstraints_AndConstraints:
		if t.AndConstraints == nil {
			return errors.New("a nil list")
		}
		members = t.AndConstraints.Constraints
	case *discoveryv3.DynamicParameterConstraints_OrConstraints:
		if t.OrConstraints == nil {
			return errors.New("a nil list")
		}
		members = t.OrConstraints.Constraints
	}
	for _, member := range members {
		if err := validConstraints(member, level+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

func validSingle(s *discoveryv3.DynamicParameterConstraints_SingleConstraint) error {
	switch {
	case s == nil:
		return errors.New("a nil constraint")
	case s.Key == "":
		return errors.New("an empty key")
	}
	switch t := s.ConstraintType.(type) {
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Value:
		return nil
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_:
		if t.Exists != nil {
			return nil
		}
	}
	return errors.New("neither value nor exists")
}

// Accepts reports whether a valid constraint accepts the parameters (SPEC 9.1).
func Accepts(c Constraints, parameters map[string]string) bool {
	switch {
	case c == nil || c.Type == nil:
		return true
	case c.GetConstraint() != nil:
		value, present := parameters[c.GetConstraint().Key]
		if c.GetConstraint().GetExists() != nil {
			return present
		}
		return present && value == c.GetConstraint().GetValue()
	case c.GetNotConstraints() != nil:
		return !Accepts(c.GetNotConstraints(), parameters)
	case c.GetAndConstraints() != nil:
		for _, member := range c.GetAndConstraints().Constraints {
			if !Accepts(member, parameters) {
				return false
			}
		}
		return true
	}
	for _, member := range c.GetOrConstraints().Constraints {
		if Accepts(member, parameters) {
			return true
		}
	}
	return false
}

// ParameterSpace returns all combinations of parameters that the constraints
// distinguish: each mentioned key has one of its mentioned values, another value, or
// no value.
func ParameterSpace(constraints []Constraints) []map[string]string {
	mentioned := map[string][]string{}
	for _, c := range constraints {
		mention(c, mentioned)
	}
	space := []map[string]string{{}}
	for _, key := range sortedKeys(mentioned) {
		var larger []map[string]string
		for _, parameters := range space {
			larger = append(larger, parameters)
			for _, value := range append(slices.Clone(mentioned[key]), unmentioned(mentioned[key])) {
				next := map[string]string{key: value}
				maps.Copy(next, parameters)
				larger = append(larger, next)
			}
		}
		space = larger
	}
	return space
}

// mention adds the values that a constraint mentions, by key. A key has no values if only
// its presence is required.
func mention(c Constraints, mentioned map[string][]string) {
	if single := c.GetConstraint(); single != nil {
		values := mentioned[single.Key]
		if single.GetExists() == nil && !slices.Contains(values, single.GetValue()) {
			values = append(values, single.GetValue())
		}
		mentioned[single.Key] = values
	}
	if c.GetNotConstraints() != nil {
		mention(c.GetNotConstraints(), mentioned)
	}
	for _, member := range c.GetAndConstraints().GetConstraints() {
		mention(member, mentioned)
	}
	for _, member := range c.GetOrConstraints().GetConstraints() {
		mention(member, mentioned)
	}
}

func unmentioned(values []string) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("unmentioned-", i); !slices.Contains(values, name) {
			return name
		}
	}
}

// NamedKeys returns the keys that a constraint names, sorted.
func NamedKeys(c Constraints) []string {
	mentioned := map[string][]string{}
	mention(c, mentioned)
	return sortedKeys(mentioned)
}

// SameVariant reports whether two constraints accept the same parameters
// (SPEC 9.2).
func SameVariant(a, b Constraints) bool {
	for _, parameters := range ParameterSpace([]Constraints{a, b}) {
		if Accepts(a, parameters) != Accepts(b, parameters) {
			return false
		}
	}
	return true
}

// checkedSet is the result of SPEC 9.3 for the variants of a resource name.
type checkedSet struct {
	SameKeys  bool                // all variants name the same keys
	Ambiguous []map[string]string // parameters that two variants accept
	Uncovered []map[string]string // parameters that no variant accepts
}

// Accepted reports whether the set is valid.
func (s *checkedSet) Accepted() bool { return s.SameKeys && len(s.Ambiguous) == 0 }

// CheckVariants evaluates the constraints of a set for all combinations of parameters.
func CheckVariants(constraints []Constraints) *checkedSet {
	s := &checkedSet{SameKeys: true}
	for _, c := range constraints {
		if !slices.Equal(NamedKeys(c), NamedKeys(constraints[0])) {
			s.SameKeys = false
		}
	}
	for _, parameters := range ParameterSpace(constraints) {
		switch accepting := acceptingVariants(constraints, parameters); {
		case len(accepting) == 0:
			s.Uncovered = append(s.Uncovered, parameters)
		case len(accepting) > 1:
			s.Ambiguous = append(s.Ambiguous, parameters)
		}
	}
	return s
}

// ChooseVariant returns the index of the variant that accepts the parameters, or -1. The
// set must be accepted.
func ChooseVariant(constraints []Constraints, parameters map[string]string) int {
	accepting := acceptingVariants(constraints, parameters)
	if len(accepting) == 0 {
		return -1
	}
	return accepting[0]
}

func acceptingVariants(constraints []Constraints, parameters map[string]string) []int {
	var accepting []int
	for i, c := range constraints {
		if Accepts(c, parameters) {
			accepting = append(accepting, i)
		}
	}
	return accepting
}

// Fragment is a part of a resource for the parameters that its constraint
// accepts (SPEC 9.4). Content is made of map[string]any, []any and scalars.
type Fragment struct {
	Constraints Constraints
	Content     map[string]any
}

// FragmentContent returns the content for the parameters: the contents of all
// fragments that accept them, merged in order.
func FragmentContent(fragments []Fragment, parameters map[string]string) map[string]any {
	content := map[string]any{}
	for _, f := range fragments {
		if Accepts(f.Constraints, parameters) {
			content = mergeContent(content, f.Content).(map[string]any)
		}
	}
	return content
}

// mergeContent merges the content b over a: mappings are merged by key recursively,
// lists are concatenated, and any other value is replaced.
func mergeContent(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		before, ok := a.(map[string]any)
		if !ok {
			return b
		}
		merged := map[string]any{}
		maps.Copy(merged, before)
		for key, value := range b {
			if under, ok := before[key]; ok {
				value = mergeContent(under, value)
			}
			merged[key] = value
		}
		return merged
	case []any:
		before, ok := a.([]any)
		if !ok {
			return b
		}
		return append(slices.Clone(before), b...)
	}
	return b
}

// DescribedDataplane returns the dataplane with one inbound that the parameters describe
// (SPEC 12.4), and with one outbound. If the parameters have no section, no targetRef
// selects the section of the inbound.
func DescribedDataplane(mesh string, parameters map[string]string, outbound resource.Tags) *resource.Dataplane {
	const noSection = "\x00"
	dp := &resource.Dataplane{Outbounds: []resource.Outbound{{Tags: outbound}}}
	dp.Kind, dp.Mesh = "Dataplane", mesh
	inbound := resource.Inbound{Name: noSection}
	for _, key := range sortedKeys(parameters) {
		value := parameters[key]
		label, isLabel := strings.CutPrefix(key, "@label/")
		switch {
		case isLabel:
			dp.Labels = append(dp.Labels, resource.Tag{Key: label, Value: value})
		case key == "@namespace":
			dp.Namespace = value
		case key == "@name":
			dp.Name = value
		case key == "@section":
			inbound.Name = value
		default:
			inbound.Tags = append(inbound.Tags, resource.Tag{Key: key, Value: value})
		}
	}
	dp.Inbounds = []resource.Inbound{inbound}
	return dp
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
