package memo

import (
	"sync"
	"weak"
)

// A Memo keeps what translators make of inputs that the inbounds of many dataplanes share,
// such as the config of a filter. It is made once for all of them. The zero Memo is empty.
// It is safe for concurrent use.
type Memo struct{ made sync.Map }

// Once returns the value of a key in a memo. If there is none, it is made; two callers may
// make it at the same time, and both get the same one. A value must be a function of its
// key, whose type no other kind of value has, and must not be changed. It is kept as long as
// the memo.
func Once[K comparable, V any](m *Memo, key K, make func() *V) *V {
	if known, ok := m.made.Load(key); ok {
		return known.(*V)
	}
	first, _ := m.made.LoadOrStore(key, make())
	return first.(*V)
}

// Weakly is [Once] for values that may be large, or different for each dataplane: a value that no
// caller uses is collected, and made again when it is asked for.
func Weakly[K comparable, V any](m *Memo, key K, make func() *V) *V {
	if known, ok := m.made.Load(key); ok {
		if v := known.(weak.Pointer[V]).Value(); v != nil {
			return v
		}
	}
	v := make()
	m.made.Store(key, weak.Make(v))
	return v
}
