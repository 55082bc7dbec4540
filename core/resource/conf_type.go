package resource

import (
	"iter"
	"reflect"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// confPointer is the interface of the code that confgen generates for a Conf
// type T.
type confPointer[T any] interface {
	*T
	Equal(*T) bool
}

// mergerPointer is the interface of the code that confgen generates for the
// merger M of a Conf type T.
type mergerPointer[T, M any] interface {
	*M
	Fill(lower *T, item int) (complete bool)
	Conf() *T
	Origins(dst []int) []int
	Leaves() iter.Seq2[string, int]
}

// ConfOf returns the ConfType of generated code:
//
//	resource.ConfOf[Conf, mergerOfConf]()
func ConfOf[T, M any, P confPointer[T], Q mergerPointer[T, M]]() ConfType {
	return confType[T, M, P, Q]{}
}

type confType[T, M any, P confPointer[T], Q mergerPointer[T, M]] struct{}

func (confType[T, M, P, Q]) Decode(at *strict.Value, except ...string) Conf {
	conf := new(T)
	if !strict.DecodeExcept(at, conf, except...) {
		return nil
	}
	return conf
}

func (confType[T, M, P, Q]) Validate(at *diag.At, c Conf) bool {
	conf, ok := c.(*T)
	switch {
	case c == nil || ok && conf == nil:
		at.Errorf(diag.MissingField, "", "required field is missing")
	case !ok:
		at.Errorf(diag.BadResource, "", "must be a %s, not a %T", reflect.TypeFor[*T](), c)
	default:
		return strict.Validate(at, conf)
	}
	return false
}

func (confType[T, M, P, Q]) NewMerger() Merger { return new(merger[T, M, Q]) }

func (confType[T, M, P, Q]) Equal(a, b Conf) bool { return P(a.(*T)).Equal(b.(*T)) }

// HasUnion reports whether the merger has the method that confgen generates for
// types with a union.
func (confType[T, M, P, Q]) HasUnion() bool {
	_, union := any((*M)(nil)).(interface{ HasUnion() })
	return union
}

// merger contains the generated merger by value, so that NewMerger allocates
// once.
type merger[T, M any, Q mergerPointer[T, M]] struct{ m M }

func (w *merger[T, M, Q]) Fill(lower Conf, item int) bool { return Q(&w.m).Fill(lower.(*T), item) }

func (w *merger[T, M, Q]) Conf() Conf { return Q(&w.m).Conf() }

func (w *merger[T, M, Q]) Origins(dst []int) []int { return Q(&w.m).Origins(dst) }

func (w *merger[T, M, Q]) Leaves() iter.Seq2[string, int] { return Q(&w.m).Leaves() }
