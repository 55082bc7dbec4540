package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

type tag struct{ key, value string }

// TestInternerModel runs random transactions over a small alphabet of keys, so
// that ids are freed and reused, and compares with a map.
func TestInternerModel(t *testing.T) {
	type model struct {
		ids  map[tag]uint32
		refs map[uint32]int
	}
	type version struct {
		in   *Interner[tag]
		want model
	}
	check := func(v version) {
		t.Helper()
		if v.in.Len() != len(v.want.ids) {
			t.Fatalf("Len = %d, want %d", v.in.Len(), len(v.want.ids))
		}
		for key, id := range v.want.ids {
			if got, ok := v.in.Lookup(key); !ok || got != id {
				t.Fatalf("Lookup(%v) = %d, %v, want %d", key, got, ok, id)
			}
			if id >= v.in.Limit() {
				t.Fatalf("id %d, limit %d", id, v.in.Limit())
			}
		}
		if id, ok := v.in.Lookup(tag{"absent", ""}); ok {
			t.Fatalf("an absent key has id %d", id)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	versions := []version{{NewInterner[tag](), model{map[tag]uint32{}, map[uint32]int{}}}}
	for range 200 {
		from := versions[r.IntN(len(versions))]
		want := model{maps.Clone(from.want.ids), maps.Clone(from.want.refs)}
		e := from.in.Edit()
		bias := r.IntN(10)
		for range r.IntN(200) {
			key := tag{fmt.Sprint("k", r.IntN(20)), fmt.Sprint("v", r.IntN(50))}
			id, had := want.ids[key]
			if r.IntN(10) == 0 {
				got, added := e.Add(key)
				if added == had || had && got != id || !had && want.refs[got] != 0 {
					t.Fatalf("Add(%v) = %d, %v, had %d, %v", key, got, added, id, had)
				}
				if added {
					want.ids[key], want.refs[got] = got, 1
				}
			} else if r.IntN(10) >= bias {
				got := e.Intern(key)
				if had && got != id {
					t.Fatalf("Intern(%v) = %d, had %d", key, got, id)
				}
				if !had && want.refs[got] != 0 {
					t.Fatalf("Intern(%v) = %d, which is in use", key, got)
				}
				want.ids[key] = got
				want.refs[got]++
			} else if had {
				want.refs[id]--
				if last := e.Release(id); last != (want.refs[id] == 0) {
					t.Fatalf("Release(%d) = %v", id, last)
				}
				if want.refs[id] == 0 {
					delete(want.ids, key)
				}
			}
			if got, ok := e.Lookup(key); ok != hasKey(want.ids, key) || ok && got != want.ids[key] {
				t.Fatalf("editor: Lookup(%v) = %d, %v", key, got, ok)
			}
		}
		v := version{e.Commit(), want}
		check(v)
		versions = append(versions, v)
	}
	for _, v := range versions {
		check(v)
	}
}

func hasKey(m map[tag]uint32, key tag) bool {
	_, ok := m[key]
	return ok
}

func TestInternerIdsAreDenseAndReused(t *testing.T) {
	e := NewInterner[string]().Edit()
	for i, key := range []string{"a", "b", "c", "d"} {
		if id := e.Intern(key); id != uint32(i) {
			t.Fatalf("Intern(%q) = %d, want %d", key, id, i)
		}
	}
	before := e.Commit()
	e.Release(1)
	e.Release(3)
	for _, c := range []struct {
		key string
		id  uint32
	}{{"e", 3}, {"f", 1}, {"g", 4}} {
		if id := e.Intern(c.key); id != c.id {
			t.Errorf("Intern(%q) = %d, want %d", c.key, id, c.id)
		}
	}
	after := e.Commit()
	if after.Len() != 5 || after.Limit() != 5 {
		t.Errorf("Len %d, Limit %d, want 5 and 5", after.Len(), after.Limit())
	}
	if id, ok := before.Lookup("d"); !ok || id != 3 {
		t.Errorf("the old version has d as %d, %v, want 3", id, ok)
	}
	if _, ok := before.Lookup("e"); ok {
		t.Error("the old version has a key that was added later")
	}
}

func TestInternerMisuse(t *testing.T) {
	e := NewInterner[string]().Edit()
	id := e.Intern("once")
	e.Release(id)
	for name, misuse := range map[string]func(){
		"release twice":               func() { e.Release(id) },
		"release of no id":            func() { e.Release(7) },
		"release of an id far beyond": func() { e.Release(1 << 30) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message, _ := recover().(string); !strings.Contains(message, "not in use") {
					t.Errorf("panic %q", message)
				}
			}()
			misuse()
		})
	}
}

// TestInternerForgets: a lookup finds keys in use only, and not the zero key that
// released entries contain.
func TestInternerForgets(t *testing.T) {
	e := NewInterner[string]().Edit()
	e.Release(e.Intern(""))
	if id, ok := e.Lookup(""); ok {
		t.Errorf("a released key has id %d", id)
	}
	in := e.Commit()
	if _, ok := in.LookupFunc("", func(id uint32) bool { t.Errorf("is called with id %d", id); return false }); ok || in.Len() != 0 {
		t.Error("a released key is found")
	}
}

func TestInternerLookupAllocatesNothing(t *testing.T) {
	e := NewInterner[tag]().Edit()
	for i := range 1000 {
		e.Intern(tag{"k", fmt.Sprint(i)})
	}
	in := e.Commit()
	present, absent := tag{"k", fmt.Sprint(500)}, tag{"k", fmt.Sprint(5000)}
	if got := testing.AllocsPerRun(100, func() {
		if _, ok := in.Lookup(present); !ok {
			t.Error("lost a key")
		}
		if _, ok := in.Lookup(absent); ok {
			t.Error("found an absent key")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestInternerReadersDuringEdits is for the race detector.
func TestInternerReadersDuringEdits(t *testing.T) {
	e := NewInterner[int]().Edit()
	e.Intern(0)
	var current atomic.Pointer[Interner[int]]
	current.Store(e.Commit())
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				in := current.Load()
				for key := range in.Len() {
					if id, ok := in.Lookup(key); !ok || id != uint32(key) {
						t.Errorf("version of %d keys: key %d is lost", in.Len(), key)
						return
					}
				}
			}
		})
	}
	for key := 1; key < 1000; key++ {
		e.Intern(key)
		current.Store(e.Commit())
	}
	done.Store(true)
	readers.Wait()
}

func TestInternerLookupFunc(t *testing.T) {
	e := NewInterner[string]().Edit()
	for i := range 1_000 {
		e.Intern(strconv.Itoa(i))
	}
	e.Release(7)
	in := e.Commit()
	for i := range 1_000 {
		key := strconv.Itoa(i)
		id, ok := in.LookupFunc(key, func(id uint32) bool { return in.keys.get(id).value == key })
		if want, wantOK := in.Lookup(key); id != want || ok != wantOK {
			t.Errorf("%s: %d, %v", key, id, ok)
		}
		if _, ok := in.LookupFunc(key, func(uint32) bool { return false }); ok {
			t.Errorf("%s is found although the function returns false", key)
		}
	}
}
