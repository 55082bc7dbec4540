package laws

import (
	"math/rand"
	"reflect"

	fuzz "github.com/google/gofuzz"
)

// nilChance is how often a pointer, list or map is not set.
const nilChance = 0.45

// maxNested is how often a type that contains itself stands in itself; what
// lies deeper is zero. More would make conditions with AND, OR and NOT of each
// other grow without end.
const maxNested = 1

// random makes random confs.
type random[T any] struct {
	*rand.Rand
	fuzzer *fuzz.Fuzzer
	max    int
}

func newRandom[T any](o options) *random[T] {
	source := rand.New(rand.NewSource(o.seed))
	fuzzer := fuzz.New().RandSource(source).NilChance(nilChance).NumElements(0, 3).MaxDepth(depth(reflect.TypeFor[T](), make(map[reflect.Type]int)))
	for _, leaf := range leafTypes(reflect.TypeFor[T]()) {
		fuzzer.Funcs(leafFunc(leaf), pointerFunc(leaf))
	}
	for _, f := range o.funcs {
		fuzzer.Funcs(f)
		if t := reflect.TypeOf(f).In(0); t.Kind() == reflect.Pointer {
			fuzzer.Funcs(pointerFunc(t.Elem()))
		}
	}
	return &random[T]{Rand: source, fuzzer: fuzzer, max: o.confs}
}

// conf returns one random conf, with the capacity to spare of a copy.
func (r *random[T]) conf() *T {
	c := new(T)
	r.fuzzer.Fuzz(c)
	return deepCopy(c)
}

// confs returns a sequence of one or more.
func (r *random[T]) confs() []*T {
	confs := make([]*T, 1+r.Intn(r.max))
	for i := range confs {
		confs[i] = r.conf()
	}
	return confs
}

// depth returns how many levels of pointers, lists, maps, structs and scalars a
// value has. open counts how often types stand above t.
func depth(t reflect.Type, open map[reflect.Type]int) int {
	if open[t] > maxNested {
		return 0
	}
	open[t]++
	defer func() { open[t]-- }()
	deepest := 0
	for _, part := range parts(t) {
		deepest = max(deepest, depth(part, open))
	}
	return deepest + 1
}

// parts returns the types that values of t are made of; none for a scalar.
func parts(t reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return []reflect.Type{t.Elem()}
	case reflect.Map:
		return []reflect.Type{t.Key(), t.Elem()}
	case reflect.Struct:
		fields := make([]reflect.Type, t.NumField())
		for i := range fields {
			fields[i] = t.Field(i).Type
		}
		return fields
	}
	return nil
}

// leafTypes returns the types in t that gofuzz is not to fill by itself, in
// the order in which they are met: bools, numbers and strings; and interfaces,
// functions and channels, which it can not make and which stay nil. Types with
// hand-written methods may have them.
func leafTypes(t reflect.Type) []reflect.Type {
	var found []reflect.Type
	seen := make(map[reflect.Type]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch k := t.Kind(); {
		case isScalar(k), k == reflect.Interface, k == reflect.Func, k == reflect.Chan:
			found = append(found, t)
		}
		for _, part := range parts(t) {
			walk(part)
		}
	}
	walk(t)
	return found
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

var alphabet = []string{"", "a", "b", "a/b~"}

// leafFunc returns the gofuzz function of a leaf type, which draws from a few
// values of a scalar.
func leafFunc(t reflect.Type) any {
	return makeFunc(reflect.PointerTo(t), func(v reflect.Value, c fuzz.Continue) {
		setScalar(v.Elem(), c.Intn(4))
	})
}

// setScalar sets v to one of the values 0, 1, 2, ... of its type.
func setScalar(v reflect.Value, n int) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(n%2 == 1)
	case v.Kind() == reflect.String:
		v.SetString(alphabet[n%len(alphabet)])
	case v.CanInt():
		v.SetInt(int64(n))
	case v.CanUint():
		v.SetUint(uint64(n))
	case v.CanFloat():
		v.SetFloat(float64(n) / 2)
	}
}

// pointerFunc returns the gofuzz function of *t. gofuzz by itself never
// leaves a pointer nil that points to a type with a function.
func pointerFunc(t reflect.Type) any {
	return makeFunc(reflect.PointerTo(reflect.PointerTo(t)), func(v reflect.Value, c fuzz.Continue) {
		if c.Float64() < nilChance {
			v.Elem().SetZero()
			return
		}
		value := reflect.New(t)
		c.Fuzz(value.Interface())
		v.Elem().Set(value)
	})
}

func makeFunc(arg reflect.Type, f func(v reflect.Value, c fuzz.Continue)) any {
	t := reflect.FuncOf([]reflect.Type{arg, reflect.TypeFor[fuzz.Continue]()}, nil, false)
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		f(args[0], args[1].Interface().(fuzz.Continue))
		return nil
	}).Interface()
}

// Random returns a source of the confs that [Check] works on, for tests of
// other properties. It is not safe for concurrent use.
func Random[T any](opts ...Option) func() *T {
	return newRandom[T](newOptions(opts)).conf
}
