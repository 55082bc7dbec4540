package laws

import (
	"fmt"
	"iter"
	"testing"
)

// Conf is what confgen generates for a root type T.
type Conf[T any] interface {
	*T
	Equal(*T) bool
	Hash() uint64
	Clone() *T
}

// Merger is the generated merger M of a root type T.
type Merger[T, M any] interface {
	*M
	Fill(lower *T, item int) (complete bool)
	Conf() *T
	Origins(dst []int) []int
	Leaves() iter.Seq2[string, int]
}

// Check reports to t each law that the generated code of T and its merger M
// break, once, with the confs that show it. PT and PM are inferred:
//
//	laws.Check[Conf, ConfMerger](t)
func Check[T, M any, PT Conf[T], PM Merger[T, M]](t testing.TB, opts ...Option) {
	t.Helper()
	for _, v := range violations[T, M, PT, PM](opts) {
		t.Error(v)
	}
}

// law is a named check of one random sequence of confs, from the lowest
// priority to the highest. It returns what is wrong, or "".
type law[T any] struct {
	name string
	hold func(confs []*T) string
}

// violations returns one line or more for each law that is broken.
func violations[T, M any, PT Conf[T], PM Merger[T, M]](opts []Option) []string {
	o := newOptions(opts)
	s := &suite[T, M, PT, PM]{options: o, random: newRandom[T](o)}
	var broken []string
	for _, law := range s.laws() {
		for round := range o.rounds {
			confs := s.random.confs()
			if wrong := law.hold(confs); wrong != "" {
				broken = append(broken, fmt.Sprintf("law %q is broken: %s\n(seed %d, round %d) confs, lowest first:\n%s",
					law.name, wrong, o.seed, round, render(confs)))
				break
			}
		}
	}
	return broken
}

// suite checks the laws of one type.
type suite[T, M any, PT Conf[T], PM Merger[T, M]] struct {
	options
	random *random[T]
}

func (s *suite[T, M, PT, PM]) laws() []law[T] {
	all := []law[T]{
		{"identity", s.identity},
		{"prefix", s.prefix},
		{"completeness", s.completeness},
		{"inputs", s.inputs},
		{"aliasing", s.aliasing},
		{"equality", s.equality},
		{"hash", s.hash},
		{"clone", s.clone},
		{"leaves", s.leaves},
		{"origins", s.origins},
	}
	if !s.union {
		all = append(all,
			law[T]{"associativity", s.associativity},
			law[T]{"priority", s.priority},
			law[T]{"removal", s.removal})
	}
	return all
}

// merge folds confs, which stand from the lowest to the highest.
func (s *suite[T, M, PT, PM]) merge(confs ...*T) PM {
	m := PM(new(M))
	for i := len(confs) - 1; i >= 0; i-- {
		m.Fill(confs[i], i)
	}
	return m
}
