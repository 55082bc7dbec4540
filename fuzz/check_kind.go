package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Option changes what [CheckKind] does.
type Option func(*checkOptions)

type checkOptions struct {
	seed   uint64
	rounds int
	texts  []string
}

// WithSeed sets the seed of the random Confs; 1 is the default.
func WithSeed(seed uint64) Option { return func(o *checkOptions) { o.seed = seed } }

// WithRounds sets how many sequences of Confs are tried; 500 is the default.
func WithRounds(n int) Option { return func(o *checkOptions) { o.rounds = n } }

// WithTexts adds values, in YAML, for fields whose types accept nothing that
// is tried by itself.
func WithTexts(texts ...string) Option {
	return func(o *checkOptions) { o.texts = append(o.texts, texts...) }
}

// CheckKind holds all Conf types of a kind against the reference and the laws
// of merging (SPEC 6), with random Confs: that a merge gives the reference's
// conf, origins and leaves; that the empty Conf changes nothing; that prefixes
// can be merged beforehand; that inputs and earlier results stay as they are;
// that Equal, Hash and Clone agree; that HidesBelow is told where it matters;
// and that what a file may say is printed and read again as the same. Every law
// that is broken is reported once, with Confs from which nothing can be left
// out, lowest priority first.
//
// Where all of that holds, whole answers about meshes with policies of the kind
// are compared, and the first that differs is reported with a mesh from which
// nothing can be left out.
func CheckKind(t testing.TB, kind *resource.Kind, opts ...Option) {
	t.Helper()
	o := checkOptions{seed: 1, rounds: 500}
	for _, opt := range opts {
		opt(&o)
	}
	errs := checkConfs(kind, o)
	if errs == nil {
		errs = checkScenarios(kind, o)
	}
	for _, err := range errs {
		t.Errorf("%s: %v", kind.Name, err)
	}
}

// checkConfs checks each Conf type once.
func checkConfs(kind *resource.Kind, o checkOptions) (errs []error) {
	checked := map[reflect.Type]bool{}
	for _, section := range kindSections(kind) {
		conf, err := confType(kind.Name, section)
		if err != nil {
			return append(errs, err)
		}
		if checked[conf] {
			continue
		}
		checked[conf] = true
		for _, err := range checkSection(kind.Name, section, conf, o) {
			errs = append(errs, fmt.Errorf("%s: %w", conf, err))
		}
	}
	return errs
}

// kindSections returns the sections that a kind has.
func kindSections(kind *resource.Kind) []*resource.Section {
	var sections []*resource.Section
	for _, section := range []*resource.Section{kind.To, kind.From, kind.Rules, kind.Default} {
		if section != nil {
			sections = append(sections, section)
		}
	}
	return sections
}

func checkSection(kind string, section *resource.Section, conf reflect.Type, o checkOptions) (errs []error) {
	random := rand.New(rand.NewPCG(o.seed, o.seed))
	letters := newAlphabet(o.texts)
	if err := letters.cover(conf); err != nil {
		return []error{err}
	}
	for _, law := range lawsOf(section.Conf, conf) {
		if err := law.breaks(random, letters, conf, o.rounds); err != nil {
			errs = append(errs, err)
		}
	}
	if err := caught(func() error { return checkReading(kind, section, letters) }); err != nil {
		errs = append(errs, fmt.Errorf("reading: %w", err))
	}
	return errs
}

// checkScenarios compares a scenario for every few rounds: one takes as long as
// some dozen sequences.
func checkScenarios(kind *resource.Kind, o checkOptions) []error {
	g, err := NewGenerator(resource.NewKinds(kind), o.texts...)
	if err != nil {
		return []error{err}
	}
	check := func(s *Scenario) error { return Compare(FastPath, s) }
	for round := range uint64(o.rounds) {
		if round%5 != 0 {
			continue
		}
		if s := g.Scenario(randomBytes(o.seed + round)); check(s) != nil {
			return []error{errors.New(Explain(s, check))}
		}
	}
	return nil
}

// breaks returns the first failure of a law.
func (l law) breaks(random *rand.Rand, letters *alphabet, t reflect.Type, rounds int) error {
	for range rounds {
		if err := l.broken(randomSequence(random), letters, t); err != nil {
			return err
		}
	}
	return nil
}

// broken returns an error if the law does not hold for the sequence, with as
// little of it as breaks the law.
func (l law) broken(s sequence, letters *alphabet, t reflect.Type) error {
	check := func(s sequence) error { return caught(func() error { return l.holds(s.confs(letters, t)) }) }
	if check(s) == nil {
		return nil
	}
	small := s.shrink(func(s sequence) bool { return check(s) != nil })
	return fmt.Errorf("%s: %w\nConfs, lowest priority first:\n%s", l.name, check(small), render(small.confs(letters, t)))
}

// checkReading reads, prints and reads again what a file may say.
func checkReading(kind string, section *resource.Section, letters *alphabet) error {
	confs, err := newPool(kind, section, letters)
	if err != nil {
		return err
	}
	for _, tree := range confs {
		written := asText(tree)
		first := decodeConf(section, []byte(written))
		again := decodeConf(section, []byte(asText(first)))
		if again == nil {
			return fmt.Errorf("%s is printed as %s, which is refused", written, asText(first))
		}
		if !section.Conf.Equal(first, again) {
			return fmt.Errorf("%s is read again as %s", asText(first), asText(again))
		}
	}
	return nil
}
