package strict

import (
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// structure fills the fields of v and continues after errors.
func (d *decoder) structure(v reflect.Value, known *fields) {
	except, partly := d.except, d.partly
	d.except, d.partly = nil, false
	if !d.enter(Mapping, "a mapping") {
		return
	}
	var room, spellingRoom [16]bool
	seen := append(room[:0], make([]bool, len(known.list))...)
	read := append(spellingRoom[:0], make([]bool, len(known.spellings))...) // whether each spelling was read
	others := d.newNames()                                                  // names that are read
	complete := true                                                        // all names are strings
	for d.in.more() {
		s := d.in.nameIn(known)
		name, found, ok := "", s >= 0, true
		if !found {
			if name, ok = d.name(&others); ok {
				s = d.spelledInSnakeCase(name, known)
				found = s >= 0
			}
		}
		n := 0
		if found && ok {
			n, name = known.spellings[s].field, known.spellings[s].name
			if ok = !read[s]; !ok {
				d.duplicate(name)
			}
			read[s] = true
		}
		switch {
		case !ok:
			complete = complete && name != ""
		case slices.Contains(except, name), partly && !found, d.doc.SnakeCase && slices.Contains(except, camelCase(name)):
		case !found:
			d.unknown(name, known)
		case d.doc.NullIsAbsent && d.in.kind() == Null:
		case seen[n]:
			d.place().Name(name).Errorf(diag.DuplicateEntry, "", "duplicate field: the same as %q", known.list[n].name)
		default:
			seen[n] = true
			f := &known.list[n]
			d.enterField(name)
			d.value(v.Field(f.index), f.plan)
			d.leave()
			continue
		}
		d.in.skip()
	}
	others.forget()
	d.in.leave()
	for n := range known.list {
		if f := &known.list[n]; f.required && !seen[n] && complete {
			d.place().Field(f.name).Errorf(diag.MissingField, "", "required field is missing")
		}
	}
	if known.discriminator >= 0 {
		checkUnion(d.place, v, known, seen)
	}
}

// ArmsIgnorer is implemented by unions with a type beside which other arms are ignored in some
// ways to read documents.
type ArmsIgnorer interface {
	IgnoresArms() diag.Reading
}

// checkUnion reports arms that do not match the union's type, and a missing arm
// of the type if the arm has required fields.
func checkUnion(at func() *diag.At, v reflect.Value, known *fields, seen []bool) {
	discriminator := &known.list[known.discriminator]
	word := v.Field(discriminator.index).String()
	if !slices.Contains(discriminator.plan.words, word) {
		return // already reported at the discriminator
	}
	for n := range known.list {
		f := &known.list[n]
		if !f.arm {
			continue
		}
		mine := strings.EqualFold(f.name, word)
		switch {
		case seen[n] && !mine:
			place := at().Field(f.name)
			if loose, is := v.Addr().Interface().(ArmsIgnorer); is && loose.IgnoresArms() != 0 {
				place = place.If(^loose.IgnoresArms())
			}
			place.Errorf(diag.FieldNotAllowed, "remove it or change the type", "is not allowed with type %q", word)
		case mine && !seen[n] && f.plan.hasRequired():
			at().Field(f.name).Errorf(diag.MissingField, "", "is required for type %q", word)
		}
	}
}
