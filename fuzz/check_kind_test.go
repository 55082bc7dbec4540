package fuzz

import (
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	lines []string
}

func (c *recorder) Helper()                           {}
func (c *recorder) Error(args ...any)                 { c.lines = append(c.lines, fmt.Sprint(args...)) }
func (c *recorder) Errorf(format string, args ...any) { c.Error(fmt.Sprintf(format, args...)) }

// brokenType is a ConfType with one fault.
type brokenType struct {
	resource.ConfType
	merger func(resource.Merger) resource.Merger
	equal  func(a, b resource.Conf) bool
	hides  bool // HasUnion reports false for a union
}

func (b brokenType) HasUnion() bool { return b.ConfType.HasUnion() && !b.hides }

func (b brokenType) NewMerger() resource.Merger {
	if b.merger == nil {
		return b.ConfType.NewMerger()
	}
	return b.merger(b.ConfType.NewMerger())
}

func (b brokenType) Equal(x, y resource.Conf) bool {
	if b.equal == nil {
		return b.ConfType.Equal(x, y)
	}
	return b.equal(x, y)
}

// The faulty mergers.
type (
	lazyMerger     struct{ resource.Merger } // reports complete after the first Conf
	silentMerger   struct{ resource.Merger } // has no origins
	unleafedMerger struct{ resource.Merger } // has no leaves
	greedyMerger   struct{ resource.Merger } // writes to an input
	panicMerger    struct{ resource.Merger } // panics if the idle timeout is set
	positiveMerger struct{ resource.Merger } // ignores a negative idle timeout
	eightMerger    struct {                  // merges no more than 8 Confs
		resource.Merger
		filled int
	}
)

func (m lazyMerger) Fill(c resource.Conf, item int) bool { m.Merger.Fill(c, item); return true }
func (m silentMerger) Origins(dst []int) []int           { return dst }
func (m unleafedMerger) Leaves() iter.Seq2[string, int]  { return func(func(string, int) bool) {} }

func (m greedyMerger) Fill(c resource.Conf, item int) bool {
	complete := m.Merger.Fill(c, item)
	c.(*meshtimeout.Conf).IdleTimeout = nil
	return complete
}

func (m *eightMerger) Fill(c resource.Conf, item int) bool {
	if m.filled++; m.filled > 8 {
		return false
	}
	return m.Merger.Fill(c, item)
}

func (m positiveMerger) Fill(c resource.Conf, item int) bool {
	positive := *c.(*meshtimeout.Conf)
	if positive.IdleTimeout != nil && *positive.IdleTimeout < 0 {
		positive.IdleTimeout = nil
	}
	return m.Merger.Fill(&positive, item)
}

func (m panicMerger) Fill(c resource.Conf, item int) bool {
	if c.(*meshtimeout.Conf).IdleTimeout != nil {
		panic("no idle timeouts")
	}
	return m.Merger.Fill(c, item)
}

// withoutIdleTimeout compares all fields of a Conf except the idle timeout.
func withoutIdleTimeout(a, b resource.Conf) bool {
	x, y := a.(*meshtimeout.Conf), b.(*meshtimeout.Conf)
	if x == nil || y == nil {
		return x == y
	}
	left, right := *x, *y
	left.IdleTimeout, right.IdleTimeout = nil, nil
	return left.Equal(&right)
}

func TestCheckKindFindsFaults(t *testing.T) {
	sequential(t)
	real := meshtimeout.Kind().To.Conf
	merger := func(with func(resource.Merger) resource.Merger) brokenType {
		return brokenType{ConfType: real, merger: with}
	}
	tests := []struct {
		name string
		conf resource.ConfType
		law  string // "" for none
	}{
		{"nothing is broken", real, ""},
		{"items that are not merged", merger(func(m resource.Merger) resource.Merger { return lazyMerger{m} }), "agreement with the reference: the conf differs at \"/"},
		{"a ninth item that is not merged", merger(func(m resource.Merger) resource.Merger { return &eightMerger{Merger: m} }), "agreement with the reference: "},
		{"completeness that is wrong", merger(func(m resource.Merger) resource.Merger { return lazyMerger{m} }), "a conf below a complete merge"},
		{"missing origins", merger(func(m resource.Merger) resource.Merger { return silentMerger{m} }), "the origins differ"},
		{"missing leaves", merger(func(m resource.Merger) resource.Merger { return unleafedMerger{m} }), "the leaves differ"},
		{"inputs that are changed", merger(func(m resource.Merger) resource.Merger { return greedyMerger{m} }), "inputs: conf"},
		{"everything is equal", brokenType{ConfType: real, equal: func(resource.Conf, resource.Conf) bool { return true }}, "equals nil"},
		{"a field that is not compared", brokenType{ConfType: real, equal: withoutIdleTimeout}, "which differs at /idleTimeout"},
		{"nothing is equal", brokenType{ConfType: real, equal: func(resource.Conf, resource.Conf) bool { return false }}, "does not equal a copy"},
		{"a panic", merger(func(m resource.Merger) resource.Merger { return panicMerger{m} }), "it panics: no idle timeouts"},
		{"a value that no file has", merger(func(m resource.Merger) resource.Merger { return positiveMerger{m} }), "agreement with the reference: the conf differs at \"/idleTimeout"},
		{"a union without HasUnion", brokenType{ConfType: meshloadbalancingstrategy.Kind().To.Conf, hides: true}, "removal: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind := meshtimeout.Kind()
			for _, section := range kindSections(kind) {
				section.Conf = test.conf
			}
			seen := &recorder{TB: t}
			CheckKind(seen, kind, withRounds(100))
			text := strings.Join(seen.lines, "\n")
			switch {
			case test.law == "" && text != "":
				t.Errorf("got failures:\n%s", text)
			case !strings.Contains(text, test.law):
				t.Errorf("no %q in:\n%s", test.law, text)
			}
		})
	}
}

// CheckKind reports the smallest Confs that fail, in their state before a merger wrote
// to one.
func TestCheckKindShrinks(t *testing.T) {
	for name, merger := range map[string]func(resource.Merger) resource.Merger{
		"a panic":                 func(m resource.Merger) resource.Merger { return panicMerger{m} },
		"inputs that are changed": func(m resource.Merger) resource.Merger { return greedyMerger{m} },
	} {
		t.Run(name, func(t *testing.T) {
			kind := meshtimeout.Kind()
			kind.From, kind.Rules = nil, nil
			kind.To.Conf = brokenType{ConfType: kind.To.Conf, merger: merger}
			seen := &recorder{TB: t}
			CheckKind(seen, kind)
			if len(seen.lines) == 0 {
				t.Fatal("no failure is reported")
			}
			// Laws about grouping need a second Conf.
			small := regexp.MustCompile(`Confs, lowest priority first:\n({}\n|{"idleTimeout":"0s"}\n)?{"idleTimeout":"0s"}(\n{})?$`)
			for _, line := range seen.lines {
				if !small.MatchString(line) {
					t.Errorf("not shrunk:\n%s", line)
				}
			}
		})
	}
}

// CheckKind compares scenarios if the Confs pass, and reports the first failure.
func TestCheckKindComparesAnswers(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*resource.Kind)
		want  string // "" for no failure
	}{
		{"nothing is wrong", func(*resource.Kind) {}, ""},
		{"no targets at the top", func(k *resource.Kind) { k.Top = 0 }, "set Top"},
		{"no targets of to", func(k *resource.Kind) { k.To.Targets = 0 }, "set To.Targets"},
		{"no targets of from", func(k *resource.Kind) { k.From.Targets = 0 }, "set From.Targets"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind := meshtimeout.Kind()
			test.spoil(kind)
			seen := &recorder{TB: t}
			CheckKind(seen, kind, withRounds(20))
			if text := strings.Join(seen.lines, "\n"); test.want == "" && text != "" || !strings.Contains(text, test.want) {
				t.Errorf("no %q in:\n%s", test.want, text)
			}
		})
	}
}

// A Conf type for which no values are found is reported with the reason.
func TestCheckKindWithoutTexts(t *testing.T) {
	seen := &recorder{TB: t}
	CheckKind(seen, &resource.Kind{Name: "Strange", Default: &resource.Section{Conf: resource.ConfOf[strangeConf, emptyMerger[strangeConf]]()}})
	want := `no text is a value of fuzz.strangeWord: they are refused`
	if text := strings.Join(seen.lines, "\n"); !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
}

// WithTexts adds values for a type that accepts none of the built-in texts.
func TestWithTexts(t *testing.T) {
	var o checkOptions
	WithTexts("other", "strange")(&o)
	values := newAlphabet(o.texts).valuesOf(reflect.TypeFor[strangeWord]())
	if len(values) != 1 || values[0].String() != "strange" {
		t.Errorf("the values are %v", values)
	}
}

// Every built-in kind keeps the laws. With -short, as under the race detector, there are fewer rounds.
func TestBuiltInKinds(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	for _, kind := range kinds.BuiltIn() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			CheckKind(t, kind, withRounds(rounds))
		})
	}
}

func withRounds(n int) Option { return func(o *checkOptions) { o.rounds = n } }

// The comparison of confs finds a merger with a fault, and placements that are not applied.
func TestConfigsAreCompared(t *testing.T) {
	lazy := meshtimeout.Kind()
	lazy.To.Conf = brokenType{ConfType: lazy.To.Conf, merger: func(m resource.Merger) resource.Merger { return lazyMerger{m} }}
	unplaced := func(s *Scenario) error {
		other := s.with(slices.DeleteFunc(slices.Clone(s.documents), func(d map[string]any) bool { return d["kind"] == "PlacementBinding" }))
		set, err := other.Load()
		if err != nil {
			return err
		}
		return compareSet(s, set)
	}
	dropping := meshtimeout.Kind()
	for _, section := range kindSections(dropping) {
		section.Conf = brokenType{ConfType: section.Conf, equal: func(resource.Conf, resource.Conf) bool { return true }}
	}
	for _, test := range []struct {
		name    string
		kind    *resource.Kind
		compare func(*Scenario) error
		faulty  bool
	}{
		{"edits that are dropped", dropping, compareEdits, true},
		{"no fault", meshtimeout.Kind(), compareConfigs, false},
		{"items that are not merged", lazy, compareConfigs, true},
		{"placements that are not applied", meshtimeout.Kind(), unplaced, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := NewGenerator(resource.NewKinds(test.kind))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for seed := uint64(0); seed < 1000 && !found; seed++ {
				found = test.compare(g.Seeded(seed)) != nil
			}
			if found != test.faulty {
				t.Errorf("a difference is found: %v", found)
			}
		})
	}
}
