package laws

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/random"
)

// Merger merges confs of the type C, from the highest priority to the lowest.
// Confgen generates such a type for each root type.
type Merger[C any] interface {
	Fill(lower C, item int) (complete bool)
	Conf() C
	Origins(dst []int) []int
	Leaves() iter.Seq2[string, int]
}

// Type is a type of confs with its generated functions. C is a pointer to a struct, or
// an interface that contains one.
type Type[C any] struct {
	NewMerger func() Merger[C]
	Equal     func(a, b C) bool
	// Union reports whether a part of the type is a discriminated union. If so, only
	// prefixes can be merged beforehand. An item that is not an origin can have an
	// effect, because its union hides the union of lower items.
	Union bool
}

// Law is a law of merging.
type Law[C any] struct {
	Name string
	// Holds returns an error for a sequence of confs that breaks the law. The confs
	// are in ascending priority, at least one. Holds does not change them.
	Holds func(confs []C) error
}

// Laws returns the laws that the type must keep, in the order of the package
// documentation. They are stateless, so the same confs give the same result.
func (t Type[C]) Laws() []Law[C] {
	laws := []Law[C]{
		{"identity", t.identity},
		{"prefix", t.prefix},
		{"completeness", t.completeness},
		{"inputs", t.inputs},
		{"aliasing", t.aliasing},
		{"equality", t.equality},
		{"hash", t.hash},
		{"clone", t.clone},
		{"leaves", t.leaves},
		{"origins", t.origins},
	}
	if !t.Union {
		laws = append(laws,
			Law[C]{"associativity", t.associativity},
			Law[C]{"priority", t.priority},
			Law[C]{"removal", t.removal})
	}
	for i, law := range laws {
		laws[i].Holds = func(confs []C) error { return law.Holds(copies(confs)) }
	}
	return laws
}

// Check reports to t each law that the generated code of T and its merger M break,
// once, with the confs that break it. In addition to [Type.Laws], it checks that
// Origins does not allocate. PT and PM are inferred:
//
//	laws.Check[Conf, mergerOfConf](t)
func Check[T, M any, PT interface {
	*T
	Equal(*T) bool
}, PM interface {
	*M
	Merger[*T]
}](t testing.TB) {
	t.Helper()
	_, union := any(new(M)).(interface{ HasUnion() })
	typ := Type[*T]{
		NewMerger: func() Merger[*T] { return PM(new(M)) },
		Equal:     func(a, b *T) bool { return PT(a).Equal(b) },
		Union:     union,
	}
	for _, law := range append(typ.Laws(), Law[*T]{"allocation", typ.allocation}) {
		next := random.Sequences[T](seed, maxConfs)
		for round := range rounds {
			confs := next()
			if err := law.Holds(confs); err != nil {
				t.Errorf("law %q is broken: %v\n(round %d) confs, lowest priority first:\n%sIf the types have changed, run go generate.", law.Name, err, round, render(confs))
				break
			}
		}
	}
}

// Check tests each law with this many random sequences of at most maxConfs confs.
const (
	rounds   = 100
	maxConfs = 6
	seed     = 1
)

// merge merges confs in ascending priority.
func (t Type[C]) merge(confs ...C) Merger[C] {
	m := t.NewMerger()
	for i := len(confs) - 1; i >= 0; i-- {
		m.Fill(confs[i], i)
	}
	return m
}

// empty returns the conf in which nothing is set.
func (t Type[C]) empty() C { return t.NewMerger().Conf() }

// same compares independently of generated code; nil and empty are different.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// render prints confs, one per line.
func render[C any](confs []C) string {
	var b strings.Builder
	for i, c := range confs {
		fmt.Fprintf(&b, "%4d %s\n", i, text(c))
	}
	return b.String()
}

// text prints a conf as JSON if it has a JSON form.
func text(c any) string {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Sprintf("%+v", c)
	}
	return string(data)
}
