package strict

import (
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
)

// fields yields the names of the fields of the mapping that was entered. The
// value of the field is then the next value. It reports and omits names that
// are not strings and duplicate names.
func (d *decoder) fields(yield func(name string) bool) {
	known := d.newNames()
	defer known.forget()
	for d.in.more() {
		name, ok := d.name(&known)
		if !ok {
			d.in.skip()
			continue
		}
		d.enterField(name)
		if !yield(name) {
			return
		}
		d.leave()
	}
	d.in.leave()
}

// name reads the name of a field.
func (d *decoder) name(known *names) (name string, ok bool) {
	name, flaw := d.in.name()
	switch {
	case flaw != nil:
		d.place().ErrorfAt(flaw.code, d.in.namePosition(), flaw.hint, "%s", flaw.what)
		return "", false
	case !known.add(name):
		d.duplicate(name)
		return name, false
	}
	return name, true
}

// duplicate reports that the latest name occurs for the second time.
func (d *decoder) duplicate(name string) {
	first := d.place().Name(name).Pos()
	d.place().ErrorfAt(diag.DuplicateEntry, d.in.namePosition(), "it is in line "+strconv.Itoa(first.Line)+" already", "duplicate field %q", name)
}

// names contains the names of the fields of one mapping.
type names struct {
	d        *decoder
	begin    int             // in d.names
	unsorted bool            // a name is not after the previous one
	large    map[string]bool // of more than smallMapping unsorted names
}

// smallMapping is the number of names up to which names are compared one by
// one.
const smallMapping = 16

func (d *decoder) newNames() names { return names{d: d, begin: len(d.names)} }

// add reports whether a name is new. If so, it adds the name. Programs write sorted names: a
// name after all others is new.
func (n *names) add(name string) bool {
	list := n.d.names[n.begin:]
	if n.unsorted = n.unsorted || len(list) > 0 && name <= list[len(list)-1]; n.unsorted && !n.isNew(name, list) {
		return false
	}
	n.d.names = append(n.d.names, name)
	return true
}

// isNew reports whether a name is not in the list of the names so far.
func (n *names) isNew(name string, list []string) bool {
	if len(list) <= smallMapping {
		return !slices.Contains(list, name)
	}
	if n.large == nil {
		n.large = map[string]bool{}
		for _, name := range list {
			n.large[name] = true
		}
	}
	added := !n.large[name]
	n.large[name] = true
	return added
}

func (n *names) forget() { n.d.names = n.d.names[:n.begin] }
