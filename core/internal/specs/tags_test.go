package specs_test

import (
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// A selector requires its tags; the value * requires the key alone (SPEC 2.2).
func TestContains(t *testing.T) {
	tags := specs.NewTags(map[string]string{"version": "v1", "app": "web"})
	for _, c := range []struct {
		rule     string
		selector map[string]string
		want     bool
	}{
		{"no tags", nil, true},
		{"equal tags", map[string]string{"app": "web", "version": "v1"}, true},
		{"one of the tags", map[string]string{"version": "v1"}, true},
		{"another value", map[string]string{"version": "v2"}, false},
		{"an absent key", map[string]string{"zone": "east"}, false},
		{"any value", map[string]string{"version": "*"}, true},
		{"any value of an absent key", map[string]string{"zone": "*"}, false},
		{"an empty value is a value", map[string]string{"version": ""}, false},
	} {
		if got := tags.Contains(specs.NewTags(c.selector)); got != c.want {
			t.Errorf("%s: got %t", c.rule, got)
		}
	}
}

// Tags are sorted by key, each key once, and are not changed.
func TestWith(t *testing.T) {
	tags := specs.NewTags(map[string]string{"b": "1", "d": "2"})
	for _, c := range []struct{ key, want string }{{"a", "a=x b=1 d=2"}, {"b", "b=x d=2"}, {"c", "b=1 c=x d=2"}, {"e", "b=1 d=2 e=x"}} {
		if got := tags.With(c.key, "x").String(); got != c.want {
			t.Errorf("with %s: got %q, want %q", c.key, got, c.want)
		}
	}
	if got := tags.String(); got != "b=1 d=2" {
		t.Errorf("the tags changed to %q", got)
	}
}

// Tags made in Go are checked as those of a document, and must be sorted.
func TestValidateTags(t *testing.T) {
	for _, c := range []struct {
		rule string
		tags specs.Tags
		want []string
	}{
		{"sorted tags", specs.Tags{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}, nil},
		{"tags in another order", specs.Tags{{Key: "b", Value: "1"}, {Key: "a", Value: "2"}}, []string{"MM0104"}},
		{"a key twice", specs.Tags{{Key: "a", Value: "1"}, {Key: "a", Value: "2"}}, []string{"MM0104"}},
		{"* is no value of a tag", specs.Tags{{Key: "a", Value: "*"}}, []string{"MM0114"}},
	} {
		var sink diag.Sink
		specs.ValidateTags(diag.Root(diag.GoValue("tags"), &sink), c.tags)
		var got []string
		for _, d := range sink.Cut(0) {
			got = append(got, d.Code.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.rule, got, c.want)
		}
	}
}
