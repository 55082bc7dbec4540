package random

import (
	"math/rand"
	"reflect"

	fuzz "github.com/google/gofuzz"
)

// nilChance is the share of unset pointers, lists and maps.
const nilChance = 0.45

// maxNested is the maximum number of times that a recursive type is nested in
// itself; deeper values are zero. With a larger number, conditions with AND, OR and
// NOT of each other would grow without limit.
const maxNested = 1

// Confs returns a source of random confs of the struct type T. The same seed
// gives the same confs. Funcs are gofuzz functions, func(*X, fuzz.Continue), that
// make the values of a type X. The source is not safe for concurrent use.
func Confs[T any](seed int64, funcs ...any) func() *T {
	t := reflect.TypeFor[T]()
	fuzzer := fuzz.NewWithSeed(seed).NilChance(nilChance).NumElements(0, 3).MaxDepth(depth(t, make(map[reflect.Type]int)))
	for _, leaf := range leafTypes(t) {
		fuzzer.Funcs(leafFunc(leaf), pointerFunc(leaf))
	}
	for _, f := range funcs {
		fuzzer.Funcs(f)
		if arg := reflect.TypeOf(f).In(0); arg.Kind() == reflect.Pointer {
			fuzzer.Funcs(pointerFunc(arg.Elem()))
		}
	}
	return func() *T {
		c := new(T)
		fuzzer.Fuzz(c)
		return c
	}
}

// Sequences returns a source of sequences of one to max random confs.
func Sequences[T any](seed int64, max int) func() []*T {
	next, lengths := Confs[T](seed), rand.New(rand.NewSource(seed))
	return func() []*T {
		confs := make([]*T, 1+lengths.Intn(max))
		for i := range confs {
			confs[i] = next()
		}
		return confs
	}
}

// depth returns the number of levels of pointers, lists, maps, structs and scalars in a
// value. open contains, for each type, the number of enclosing values.
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

// parts returns the types of the parts of a value of t; none for a scalar.
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

// leafTypes returns the types in t that gofuzz must not fill itself, in the
// order of their first use: bools, numbers and strings; and interfaces, functions
// and channels, which gofuzz cannot make and which remain nil. Types with
// hand-written methods may contain them.
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
		case IsScalar(k), k == reflect.Interface, k == reflect.Func, k == reflect.Chan:
			found = append(found, t)
		}
		for _, part := range parts(t) {
			walk(part)
		}
	}
	walk(t)
	return found
}

// IsScalar reports whether values of a kind are bools, numbers or strings.
func IsScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

var alphabet = []string{"", "a", "b", "a/b~"}

// leafFunc returns the gofuzz function of a leaf type, which chooses one of a few
// values.
func leafFunc(t reflect.Type) any {
	return makeFunc(reflect.PointerTo(t), func(v reflect.Value, c fuzz.Continue) {
		SetScalar(v.Elem(), c.Intn(4))
	})
}

// SetScalar sets v to one of the values 0, 1, 2, ... of its type.
func SetScalar(v reflect.Value, n int) {
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

// pointerFunc returns the gofuzz function of *t. Without it gofuzz never makes a nil
// pointer to a type that has a function.
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
