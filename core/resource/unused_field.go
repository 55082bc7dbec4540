package resource

import (
	"cmp"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// unusedField is a field of dataplanes or meshes, or a kind of objects, that is read but
// has no effect here. A load reports it once, at its first place (SPEC 1.3).
type unusedField struct {
	name string
	// what is the message. It is empty for a field of dataplanes, because there may be a
	// million.
	what  string
	first diag.Diagnostic // position and path
	count int
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
	if present && !d.counted(name) {
		d.addUnused(at.Field(name), unusedField{name: name})
	}
}

// counted reports whether a field was counted before. If so, it counts the field once
// more.
func (d *decoder) counted(name string) bool {
	for i := range d.unused {
		if d.unused[i].name == name {
			d.unused[i].count++
			return true
		}
	}
	return false
}

// addUnused counts a field at its place for the first time.
func (d *decoder) addUnused(at *diag.At, f unusedField) {
	f.first, f.count = diag.Diagnostic{Code: diag.FieldNotUsed, Pos: at.Pos(), Path: at.Path(), Serve: true}, 1
	d.unused = append(d.unused, f)
}

// countObject counts an object of a kind that affects answers in Kuma but not
// here.
func (d *decoder) countObject(at *diag.At, kind *objectKind) {
	if kind.ignored || kind.shapesProxies || kind.isDestination() || d.counted(kind.name) {
		return
	}
	d.addUnused(at, unusedField{name: kind.name, what: fmt.Sprintf("a %s is read, but no outbound or endpoint depends on it here", kind.name)})
}

// warn reports each field of the list once.
func (l unusedList) warn(sink *diag.Sink) {
	for _, f := range l {
		f.first.What = cmp.Or(f.what, fmt.Sprintf("the field %s of a Dataplane has no effect here", f.name))
		if f.count > 1 {
			f.first.Hint = fmt.Sprintf("the input has it %d times", f.count)
		}
		sink.Warn(f.first)
	}
}
