package resource

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// unusedField is a field of dataplanes, or a kind of objects, that is read and has no
// effect here. It is reported once in a load, at its first place (SPEC 1.3).
type unusedField struct {
	name string
	kind bool // name is a kind
	// The kind is one of destinations.
	destination bool
	first       diag.Diagnostic // position and path
	count       int
}

type unusedList []unusedField

func (l *unusedList) add(f unusedField) {
	for i := range *l {
		if known := &(*l)[i]; known.name == f.name {
			known.count += f.count
			return
		}
	}
	*l = append(*l, f)
}

// countUnused counts a field of the mapping at a place, if it is present.
func (d *decoder) countUnused(at *diag.At, name string, present bool) {
	if !present {
		return
	}
	for i := range d.unused {
		if d.unused[i].name == name {
			d.unused[i].count++
			return
		}
	}
	field := at.Field(name)
	d.unused = append(d.unused, unusedField{name: name, first: diag.Diagnostic{Pos: field.Pos(), Path: field.Path()}, count: 1})
}

// countObject counts an object of a kind on which answers would have to depend.
func (d *decoder) countObject(at *diag.At, kind *objectKind) {
	if kind.idle {
		return
	}
	for i := range d.unused {
		if d.unused[i].name == kind.name {
			d.unused[i].count++
			return
		}
	}
	d.unused = append(d.unused, unusedField{name: kind.name, kind: true, destination: kind.isDestination(), first: diag.Diagnostic{Pos: at.Pos(), Path: at.Path()}, count: 1})
}

// warn reports each field of the list once.
func (l unusedList) warn(sink *diag.Sink) {
	for _, f := range l {
		f.first.What = fmt.Sprintf("the field %s of a Dataplane has no effect here", f.name)
		if f.kind {
			f.first.What = fmt.Sprintf("a %s is read, and no outbound or endpoint depends on it here", f.name)
			if f.destination {
				f.first.What = fmt.Sprintf("a %s has outbounds in answers, and none in what is sent to Envoy", f.name)
			}
		}
		if f.count > 1 {
			f.first.Hint = fmt.Sprintf("the input has it %d times", f.count)
		}
		sink.Warn(f.first)
	}
}
