package fuzz

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/conf/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// complaints is a testing.TB that keeps what is reported.
type complaints struct {
	testing.TB
	lines []string
}

func (c *complaints) Helper()                           {}
func (c *complaints) Error(args ...any)                 { c.lines = append(c.lines, fmt.Sprint(args...)) }
func (c *complaints) Errorf(format string, args ...any) { c.Error(fmt.Sprintf(format, args...)) }

// brokenType is a ConfType with one fault.
type brokenType struct {
	resource.ConfType
	merger func(resource.Merger) resource.Merger
	equal  func(a, b resource.Conf) bool
	hash   func(resource.Conf) uint64
	clone  func(resource.Conf) resource.Conf
	hides  bool // below a union, told wrong
}

func (b brokenType) HidesBelow() bool { return b.ConfType.HidesBelow() && !b.hides }

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

func (b brokenType) Hash(c resource.Conf) uint64 {
	if b.hash == nil {
		return b.ConfType.Hash(c)
	}
	return b.hash(c)
}

func (b brokenType) Clone(c resource.Conf) resource.Conf {
	if b.clone == nil {
		return b.ConfType.Clone(c)
	}
	return b.clone(c)
}

// The faulty mergers.
type (
	lazyMerger   struct{ resource.Merger } // complete after the first
	silentMerger struct{ resource.Merger } // without origins
	namelessOne  struct{ resource.Merger } // without leaves
	greedyMerger struct{ resource.Merger } // writes into an input
	panicMerger  struct{ resource.Merger } // where the idle timeout is set
)

func (m lazyMerger) Fill(c resource.Conf, item int) bool { m.Merger.Fill(c, item); return true }
func (m silentMerger) Origins(dst []int) []int           { return dst }
func (m namelessOne) Leaves() iter.Seq2[string, int]     { return func(func(string, int) bool) {} }

func (m greedyMerger) Fill(c resource.Conf, item int) bool {
	complete := m.Merger.Fill(c, item)
	c.(*meshtimeout.Conf).IdleTimeout = nil
	return complete
}

func (m panicMerger) Fill(c resource.Conf, item int) bool {
	if c.(*meshtimeout.Conf).IdleTimeout != nil {
		panic("no idle timeouts")
	}
	return m.Merger.Fill(c, item)
}

func TestCheckKindNotices(t *testing.T) {
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
		{"items that are not merged", merger(func(m resource.Merger) resource.Merger { return lazyMerger{m} }), "merging is what the reference says"},
		{"completeness that is none", merger(func(m resource.Merger) resource.Merger { return lazyMerger{m} }), "a complete conf stays"},
		{"missing origins", merger(func(m resource.Merger) resource.Merger { return silentMerger{m} }), "the origins differ"},
		{"missing leaves", merger(func(m resource.Merger) resource.Merger { return namelessOne{m} }), "the leaves differ"},
		{"inputs that are changed", merger(func(m resource.Merger) resource.Merger { return greedyMerger{m} }), "inputs and earlier results stay as they are"},
		{"everything is equal", brokenType{ConfType: real, equal: func(resource.Conf, resource.Conf) bool { return true }}, "Equal, Hash and Clone agree"},
		{"nothing is equal", brokenType{ConfType: real, equal: func(resource.Conf, resource.Conf) bool { return false }}, "is not equal to its clone"},
		{"one hash", brokenType{ConfType: real, hash: func(resource.Conf) uint64 { return 1 }}, "have one hash"},
		{"a clone that shares", brokenType{ConfType: real, clone: func(c resource.Conf) resource.Conf { return c }}, "shares memory with its clone"},
		{"a panic", merger(func(m resource.Merger) resource.Merger { return panicMerger{m} }), "it panics: no idle timeouts"},
		{"a union that hides and does not say so", brokenType{ConfType: meshloadbalancingstrategy.Kind().To.Conf, hides: true}, "as HidesBelow is false"},
		{"an empty clone", brokenType{ConfType: real, clone: func(resource.Conf) resource.Conf { return new(meshtimeout.Conf) }}, "the clone of"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind := meshtimeout.Kind()
			for _, section := range kindSections(kind) {
				section.Conf = test.conf
			}
			seen := &complaints{TB: t}
			CheckKind(seen, kind, WithRounds(300), WithSeed(3))
			text := strings.Join(seen.lines, "\n")
			switch {
			case test.law == "" && text != "":
				t.Errorf("it complains:\n%s", text)
			case !strings.Contains(text, test.law):
				t.Errorf("no word of %q in:\n%s", test.law, text)
			}
		})
	}
}

// What CheckKind reports is no more than the failure needs: the Confs are told
// as they were before a merger wrote into one.
func TestCheckKindShrinks(t *testing.T) {
	for name, merger := range map[string]func(resource.Merger) resource.Merger{
		"a panic":                 func(m resource.Merger) resource.Merger { return panicMerger{m} },
		"inputs that are changed": func(m resource.Merger) resource.Merger { return greedyMerger{m} },
	} {
		t.Run(name, func(t *testing.T) {
			kind := meshtimeout.Kind()
			kind.From, kind.Rules = nil, nil
			kind.To.Conf = brokenType{ConfType: kind.To.Conf, merger: merger}
			seen := &complaints{TB: t}
			CheckKind(seen, kind)
			if len(seen.lines) == 0 {
				t.Fatal("it does not complain")
			}
			// Laws of groups need a second Conf.
			small := regexp.MustCompile(`Confs, lowest priority first:\n({}\n)?{"idleTimeout":"0s"}(\n{})?$`)
			for _, line := range seen.lines {
				if !small.MatchString(line) {
					t.Errorf("it is not shrunk:\n%s", line)
				}
			}
		})
	}
}

// What is wrong beside the Confs is found in scenarios, and named.
func TestCheckKindComparesAnswers(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*resource.Kind)
		want  string // "" for no complaint
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
			seen := &complaints{TB: t}
			CheckKind(seen, kind, WithRounds(20))
			if text := strings.Join(seen.lines, "\n"); test.want == "" && text != "" || !strings.Contains(text, test.want) {
				t.Errorf("no word of %q in:\n%s", test.want, text)
			}
		})
	}
}

// A Conf type that can not be made is reported, and WithTexts is the way out.
func TestCheckKindWithTexts(t *testing.T) {
	seen := &complaints{TB: t}
	CheckKind(seen, &resource.Kind{Name: "Strange", Default: &resource.Section{Conf: strangeType{}}})
	if text := strings.Join(seen.lines, "\n"); !strings.Contains(text, "strangeWord") {
		t.Errorf("the type without values is not named:\n%s", text)
	}
}
