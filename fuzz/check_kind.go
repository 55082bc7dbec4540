package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Option modifies [CheckKind].
type Option func(*checkOptions)

type checkOptions struct {
	seed   uint64
	rounds int // sequences of Confs for each law
	texts  []string
	merge  mergeFunc // nil: the reference's
}

// mergeFunc is the type of [naive.Merge].
type mergeFunc = func(confs ...any) (conf any, origins []int, leaves map[string]int)

// WithMerge gives the reference the merge of types whose mergers are written by hand. These may
// differ from SPEC 6, as in "the smaller value wins". The confs are pointers, lowest priority first.
// It returns the merged conf, those that set a leaf, ascending, and the one that set each leaf, by
// JSON pointer. The law that the item of the highest priority sets a leaf is not checked.
func WithMerge(merge func(confs ...any) (conf any, origins []int, leaves map[string]int)) Option {
	return func(o *checkOptions) { o.merge = merge }
}

// WithTexts adds YAML values for fields whose types accept none of the built-in texts.
// The error of [CheckKind] names these types.
func WithTexts(texts ...string) Option {
	return func(o *checkOptions) { o.texts = append(o.texts, texts...) }
}

// CheckKind checks a policy kind with random Confs and reports errors to t. Half of the Confs are
// those of files. The other half is made by gofuzz, and has values that only programs set. For each
// Conf type it checks that a merge agrees with the reference and keeps the laws of package laws
// (SPEC 6). It also checks that a Conf does not change if it is read from a file, marshalled and
// read again. Then it compares the confs of dataplanes of meshes with policies of the kind, and
// edits engines, which must have what a new one has. A failure contains the smallest Confs, lowest
// priority first, or the smallest mesh with the batches, that CheckKind found to cause it. The
// variable SOAK of the environment multiplies all numbers; see [Soak].
//
// It needs at least one valid value for each required field; see [WithTexts].
func CheckKind(t testing.TB, kind *resource.Kind, opts ...Option) {
	t.Helper()
	o := checkOptions{seed: 1, rounds: 500}
	for _, opt := range opts {
		opt(&o)
	}
	o.rounds *= Soak(t)
	errs := checkConfs(kind, o)
	if errs == nil {
		errs = checkScenarios(kind, o)
	}
	for _, err := range errs {
		t.Errorf("%s: %v", kind.Name, err)
	}
}

// FuzzKind makes a fuzz target of a policy kind: each input of the fuzzing engine becomes a mesh
// with policies of the kind, and a sequence of its Confs, which are compared as [CheckKind] does. One
// in four meshes is edited. Run it with -fuzzminimizetime 10x, because shortening an input takes
// longer than finding one.
func FuzzKind(f *testing.F, kind *resource.Kind, opts ...Option) {
	f.Helper()
	var o checkOptions
	for _, opt := range opts {
		opt(&o)
	}
	letters := newAlphabet(o.texts)
	g, err := NewGenerator(resource.NewKinds(kind), o.texts...)
	if err != nil {
		f.Fatal(err)
	}
	g.merge = o.merge
	for _, section := range kindSections(kind) {
		conf, err := confType(section)
		if err == nil {
			err = letters.cover(conf)
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	for seed := range uint64(seeds) {
		f.Add(SeededBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := g.Scenario(data)
		if compareConfigs(s) != nil {
			t.Fatal(explain(s, compareConfigs))
		}
		if s.seed%4 == 0 && compareEdits(s) != nil { // edits take longer than all else
			t.Fatal(explain(s, compareEdits))
		}
		c := &choices{data}
		n := 1 + c.intn(maxConfs)
		confs := split(c.data, n)
		for _, section := range kindSections(kind) {
			conf, _ := confType(section) // known to be one
			for _, law := range lawsOf(section.Conf, o.merge) {
				for _, source := range confSources(letters, conf) {
					if err := checkLaw(law, confs, source); err != nil {
						t.Errorf("%s: %v", conf, err)
					}
				}
			}
		}
	})
}

// checkConfs checks each Conf type once.
func checkConfs(kind *resource.Kind, o checkOptions) (errs []error) {
	checked := map[reflect.Type]bool{}
	for _, section := range kindSections(kind) {
		conf, err := confType(section)
		if err != nil {
			return append(errs, err)
		}
		if checked[conf] {
			continue
		}
		checked[conf] = true
		for _, err := range checkSection(section, conf, o) {
			errs = append(errs, fmt.Errorf("%s: %w", conf, err))
		}
	}
	return errs
}

// kindSections returns the sections of a kind.
func kindSections(kind *resource.Kind) []*resource.Section {
	var sections []*resource.Section
	for _, section := range []*resource.Section{kind.To, kind.From, kind.Rules, kind.Default, kind.Gateway} {
		if section != nil {
			sections = append(sections, section)
		}
	}
	return sections
}

func checkSection(section *resource.Section, conf reflect.Type, o checkOptions) (errs []error) {
	random := rand.New(rand.NewPCG(o.seed, o.seed))
	letters := newAlphabet(o.texts)
	if err := letters.cover(conf); err != nil {
		return []error{err}
	}
	for _, law := range lawsOf(section.Conf, o.merge) {
		for _, source := range confSources(letters, conf) {
			if err := tryLaw(law, random, source, o.rounds); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	confs, err := newPool(section, letters)
	if err != nil {
		return append(errs, err)
	}
	if err := caught(func() error { return checkReading(section, confs) }); err != nil {
		errs = append(errs, fmt.Errorf("reading: %w", err))
	}
	if err := caught(func() error { return checkEqual(section, confs) }); err != nil {
		errs = append(errs, fmt.Errorf("equality: %w", err))
	}
	return errs
}

// checkScenarios compares one scenario for every five rounds, because a scenario
// takes much longer than a sequence of Confs, and edits every fifth.
func checkScenarios(kind *resource.Kind, o checkOptions) []error {
	g, err := NewGenerator(resource.NewKinds(kind), o.texts...)
	if err != nil {
		return []error{err}
	}
	g.merge = o.merge
	for round := uint64(0); round < uint64(o.rounds); round += 5 {
		s := g.Seeded(o.seed + round)
		if compareConfigs(s) != nil {
			return []error{errors.New(explain(s, compareConfigs))}
		}
		if round%25 == 0 && compareEdits(s) != nil {
			return []error{errors.New(explain(s, compareEdits))}
		}
	}
	return nil
}

// tryLaw returns the first failure of a law on random sequences.
func tryLaw(l law, random *rand.Rand, source confSource, rounds int) error {
	for range rounds {
		if err := checkLaw(l, randomSequence(random), source); err != nil {
			return err
		}
	}
	return nil
}

// checkLaw returns an error if the law does not hold for the sequence. The error
// contains the smallest part of the sequence that was found to break the law.
func checkLaw(l law, s sequence, source confSource) error {
	check := func(s sequence) error {
		confs := s.confs(source)
		if len(confs) == 0 {
			return nil
		}
		return caught(func() error { return l.Holds(confs) })
	}
	if check(s) == nil {
		return nil
	}
	small := s.shrink(func(s sequence) bool { return check(s) != nil })
	return fmt.Errorf("%s: %w\nConfs, lowest priority first:\n%s", l.Name, check(small), render(small.confs(source)))
}

// checkReading checks that reading the marshalled form of a Conf gives the same Conf.
func checkReading(section *resource.Section, confs pool) error {
	for _, tree := range confs {
		written := asText(tree)
		first, err := decodeConf(section, []byte(written))
		if err != nil {
			return fmt.Errorf("%s is accepted once, and then refused: %w", written, err)
		}
		again, err := decodeConf(section, []byte(asText(first)))
		if err != nil {
			return fmt.Errorf("%s is printed as %s, which is refused: %w", written, asText(first), err)
		}
		if diff := Difference(first, again); diff != "" || !section.Conf.Equal(first, again) {
			return fmt.Errorf("%s is printed and read again as %s, which differs %s", asText(first), asText(again), diff)
		}
	}
	return nil
}
