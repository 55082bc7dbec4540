package fuzz

import (
	"strings"
	"testing"
)

func TestShrink(t *testing.T) {
	s := &Scenario{documents: []map[string]any{
		{"a": 1},
		{"keep": []any{map[string]any{"this": 1, "not this": 2}, 3}, "b": 2},
		{"c": map[string]any{}},
	}}
	before := s.YAML()
	small := shrink(s, func(s *Scenario) bool { return strings.Contains(s.YAML(), " this:") })
	if want := "keep:\n    - this: 1\n"; small.YAML() != want {
		t.Errorf("got\n%s\nwant\n%s", small.YAML(), want)
	}
	if s.YAML() != before {
		t.Errorf("the scenario is changed to\n%s", s.YAML())
	}
}
