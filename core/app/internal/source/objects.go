package source

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// objects are the objects of a store, decoded. They are used by one goroutine.
type objects struct {
	loader *resource.Loader
	byKey  map[string]*object
	// flawed are the objects that are invalid, or have warnings or anything else that is
	// reported: few.
	flawed map[string]*object
	claims *claims
	list   []Invalid // of flawed
	// reserved are the reservations of flawed.
	reserved *reservations
	kept     bool // versions in effect are kept
}

// object is an object of a store. It is not changed once it was applied.
type object struct {
	at  string
	sum uint64 // of the document
	// value is the resource in effect; nil: none.
	value any
	kind  string
	raw   *Object // the version in effect, if it is kept; nil: none
	// misfit means that no resource can have the key.
	misfit bool
	flaws
}

// flaws are what few objects have.
type flaws struct {
	errors   []diag.Diagnostic // of this version
	since    time.Time         // of errors
	effect   Effect
	lastGood string // the position of value, with EffectLastGood
	denial   *resource.Policy
	reserves *reservation // of this version
	warnings []diag.Diagnostic
	ignores  []diag.Ignore
	skipped  map[string]int
}

func (f *flaws) any() bool {
	return f.errors != nil || f.warnings != nil || f.ignores != nil || f.skipped != nil
}

func newObjects(loader *resource.Loader) *objects {
	o := &objects{byKey: map[string]*object{}, flawed: map[string]*object{}, claims: &claims{map[resource.ID]string{}, map[resource.ID][]string{}}}
	keepGoing := *loader
	keepGoing.KeepGoing, keepGoing.Claimed, keepGoing.Cache, keepGoing.Read = true, true, nil, nil
	o.loader = &keepGoing
	return o
}

// staged are changes of objects.
type staged struct {
	full    bool                // they are all objects
	raw     map[string]Object   // not decoded yet
	decoded map[string]*object  // nil: unchanged since the applied version
	deleted map[string]struct{} // unless full
}

func (s *staged) add(list []Object) {
	if s.raw == nil {
		s.raw, s.decoded, s.deleted = map[string]Object{}, map[string]*object{}, map[string]struct{}{}
	}
	for _, o := range list {
		delete(s.decoded, o.Key)
		delete(s.deleted, o.Key)
		delete(s.raw, o.Key)
		if o.Data == nil {
			s.deleted[o.Key] = struct{}{}
		} else {
			s.raw[o.Key] = o
		}
	}
}

// then returns these changes with those of the next state.
func (s *staged) then(next *staged) *staged {
	if s == nil || next.full {
		return next
	}
	s.add(nil)
	for key := range next.deleted {
		s.add([]Object{{Key: key}})
	}
	for _, o := range next.raw {
		s.add([]Object{o})
	}
	for key, o := range next.decoded {
		s.add([]Object{{Key: key}})
		delete(s.deleted, key)
		s.decoded[key] = o
	}
	return s
}

// decode decodes the documents that were staged, except those that are applied already.
func (o *objects) decode(ctx context.Context, s *staged) {
	if len(s.raw) == 0 {
		return
	}
	var inputs []resource.Input
	byAt := make(map[string]*object, len(s.raw))
	raws := make(map[string]Object, len(s.raw))
	for key, raw := range s.raw {
		sum := xxhash.Sum64(raw.Data)
		if known := o.byKey[key]; known != nil && known.at == raw.At && known.sum == sum {
			s.decoded[key] = nil
			continue
		}
		next := &object{at: raw.At, sum: sum, kind: raw.ID.Kind, misfit: raw.Flaw != ""}
		s.decoded[key], byAt[raw.At], raws[raw.At] = next, next, raw
		if o.kept {
			next.raw = &raw
		}
		inputs = append(inputs, resource.Input{Name: raw.At, Data: raw.Data, Origin: raw.origin()})
	}
	s.raw = map[string]Object{}
	slices.SortFunc(inputs, func(a, b resource.Input) int { return cmp.Compare(a.Name, b.Name) })
	set, err := o.loader.Decode(ctx, inputs...)
	if set == nil {
		set = new(resource.Set)
	}
	distribute(set, err, byAt)
	for at, next := range byAt {
		raw := raws[at]
		next.check(&raw)
		if next.errors != nil {
			next.value = nil
			next.reserves = reservedBy(&raw)
			next.kind = kindOf(&raw, next.kind)
			next.denial = denial(o.loader, &raw, next.kind)
		}
	}
}

// Decode decodes one object as a [Stored] of the loader does. The set has at most one
// resource; none if no answer depends on the object. The error is a [diag.Errors].
func Decode(ctx context.Context, loader *resource.Loader, raw Object) (*resource.Set, error) {
	o, s := newObjects(loader), new(staged)
	s.add([]Object{raw})
	o.decode(ctx, s)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	decoded := s.decoded[raw.Key]
	if decoded.errors != nil {
		return nil, diag.Errors(decoded.errors)
	}
	set := SetOf(decoded.value)
	set.Warnings, set.Ignores = decoded.warnings, decoded.ignores
	return set, nil
}

// distribute gives each object what was decoded of it.
func distribute(set *resource.Set, err error, byAt map[string]*object) {
	for m, value := range Resources(set) {
		if next := byAt[m.Pos.File]; next.value == nil {
			next.value, next.kind = value, m.Kind
		} else {
			next.fail(diag.Diagnostic{Code: diag.MisplacedObject, Pos: m.Pos, What: "an object of a store has one resource, and this is another one", Hint: "store it in an object of its own"})
		}
	}
	var left []diag.Diagnostic
	for _, l := range set.LeftOut {
		left = append(left, l.Errors...)
		for _, e := range l.Errors {
			if next := byAt[e.Pos.File]; next != nil && l.Kind != "" {
				next.kind = l.Kind
			}
		}
	}
	var all diag.Errors
	if errors.As(err, &all) {
		left = append(left, all...)
	}
	for _, e := range left {
		if next := byAt[e.Pos.File]; next != nil {
			next.fail(e)
		}
	}
	for _, w := range set.Warnings {
		if next := byAt[w.Pos.File]; next != nil {
			next.warnings = append(next.warnings, w)
		}
	}
	for _, i := range set.Ignores {
		if next := byAt[i.Pos.File]; next != nil {
			next.ignores = append(next.ignores, i)
		}
	}
}

func (o *object) fail(e diag.Diagnostic) { o.errors = append(o.errors, e) }

// check compares a decoded object with its key, and removes positions without a meaning.
func (o *object) check(raw *Object) {
	if raw.Flaw != "" {
		o.fail(flawed(raw))
	}
	if m := identity(o.value); m != nil && !raw.fits(m.ID) && o.errors == nil {
		o.fail(misplaced(m, raw.ID))
	}
	if o.value == nil && o.errors == nil && o.warnings == nil {
		o.skipped = map[string]int{o.kind: 1}
	}
	if !raw.Whole {
		return
	}
	if m := identity(o.value); m != nil {
		m.Pos = diag.Position{File: m.Pos.File}
	}
	for i := range o.errors {
		o.errors[i].Pos = diag.Position{File: o.errors[i].Pos.File}
	}
	for i := range o.warnings {
		o.warnings[i].Pos = diag.Position{File: o.warnings[i].Pos.File}
	}
}

func misplaced(m *resource.Meta, want resource.ID) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.MisplacedObject, Pos: m.Pos, What: "the document is of " + m.ID.String() + ", and its key of " + want.String(),
		Hint: "store it under its own key",
	}
}

func flawed(raw *Object) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.MisplacedObject, Pos: diag.Position{File: raw.At}, What: raw.Flaw,
		Hint: "write it with apply, which chooses the key, and delete this one",
	}
}

// apply applies decoded changes, and returns the set of all resources.
func (o *objects) apply(s *staged, before *resource.Set, now time.Time) *resource.Set {
	if before != nil && !s.full && len(s.decoded)+len(s.deleted) == 0 {
		return before
	}
	changed := false // whether flaws changed
	remove := func(key string) {
		changed = changed || o.flawed[key] != nil
		delete(o.byKey, key)
		delete(o.flawed, key)
	}
	touched := map[resource.ID]any{} // identities whose objects change, with one of their resources
	drop := func(key string) {
		old := o.byKey[key]
		if m := identity(old.value); m != nil {
			o.claims.remove(m.ID, key)
			touched[m.ID] = old.value
		}
		remove(key)
	}
	if s.full {
		for key := range o.byKey {
			if _, there := s.decoded[key]; !there {
				drop(key)
			}
		}
	}
	for key := range s.deleted {
		if o.byKey[key] != nil {
			drop(key)
		}
	}
	for key, next := range s.decoded {
		if next == nil {
			continue
		}
		old := o.byKey[key]
		next.resolve(old, now)
		if old != nil {
			drop(key)
		}
		o.byKey[key] = next
		if m := identity(next.value); m != nil {
			o.claims.add(m.ID, key)
			touched[m.ID] = next.value
		}
		if next.any() {
			o.flawed[key] = next
			changed = true
		}
	}
	edits := newEdits()
	for id, value := range touched {
		if winner := o.claims.winner(id, o.byKey); winner != nil {
			edits.put(winner.value)
		} else {
			edits.remove(value)
		}
	}
	if before == nil {
		before = new(resource.Set)
		changed = true
	}
	after := edits.apply(before)
	if changed {
		o.report(after)
	}
	return after
}

// resolve decides what is in effect for a version of an object that does not load.
func (o *object) resolve(old *object, now time.Time) {
	if o.errors == nil {
		return
	}
	o.since = now
	if old != nil && old.errors != nil {
		o.since = old.since
	}
	switch {
	case old != nil && old.value != nil && old.effect != EffectDeny:
		o.value, o.effect, o.lastGood, o.raw = old.value, EffectLastGood, identity(old.value).Pos.File, old.raw
	case o.denial != nil:
		o.value, o.effect = o.denial, EffectDeny // a server that starts without the store denies too
	default:
		o.raw = nil
	}
	o.denial = nil
}

// report collects the flaws of all objects.
func (o *objects) report(set *resource.Set) {
	o.list = nil
	var reserved []*reservation
	set.Warnings, set.Ignores, set.Skipped, set.Unread = nil, nil, nil, nil
	for _, key := range slices.Sorted(maps.Keys(o.flawed)) {
		bad := o.flawed[key]
		if bad.errors != nil {
			o.list = append(o.list, Invalid{Kind: bad.kind, At: bad.at, Errors: bad.errors, Since: bad.since, Effect: bad.effect, LastGood: bad.lastGood})
		}
		if bad.reserves != nil {
			reserved = append(reserved, bad.reserves)
		}
		set.Warnings = append(set.Warnings, bad.warnings...)
		set.Ignores = append(set.Ignores, bad.ignores...)
		for kind, n := range bad.skipped {
			if set.Skipped == nil {
				set.Skipped = map[string]int{}
			}
			set.Skipped[kind] += n
		}
	}
	set.Warnings = diag.Sorted(set.Warnings)
	if o.reserved = nil; reserved != nil {
		o.reserved = &reservations{reserved}
	}
}

// invalid returns the objects that do not load.
func (o *objects) invalid() []Invalid { return o.list }

// inEffect returns the versions that are in effect, without the Secrets that are reserved.
func (o *objects) inEffect() []Object {
	all := make([]Object, 0, len(o.byKey))
	for _, object := range o.byKey {
		if object.raw != nil && !o.reserved.has(object.value) {
			all = append(all, *object.raw)
		}
	}
	return all
}
