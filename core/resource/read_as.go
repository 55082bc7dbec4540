package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ReadAs decides what depends on how documents are read (SPEC 17.1), and returns the set. A
// resource of a control plane that does not load in that way is left out, as is any resource
// with keepGoing; other errors are returned as [diag.Errors]. A call for a set that has been
// read in some way changes nothing.
func (s *Set) ReadAs(in diag.Reading, keepGoing bool) (*Set, error) {
	var sink diag.Sink
	failed := map[diag.Position][]diag.Diagnostic{}
	for _, d := range s.Depending {
		switch {
		case d.In&in == 0:
		case d.Warning:
			sink.Warn(d.Diagnostic)
		case keepGoing || d.Stored && in&diag.AsKuma != 0:
			failed[d.Document] = append(failed[d.Document], d.Diagnostic)
		default:
			sink.Error(d.Diagnostic)
		}
	}
	if in&diag.AsKuma == 0 && !keepGoing {
		s.failLeftOut(&sink)
	}
	if err := sink.Err(); err != nil {
		return nil, err
	}
	s.Depending = nil
	s.leaveOutAt(failed, in&diag.AsKuma != 0)
	if len(failed) > 0 {
		_ = s.allLeftOut(&sink) // which is also the error of the sink
	}
	s.Warnings = diag.Sorted(slices.Concat(s.Warnings, sink.Warnings()))
	return s, sink.Err()
}

// leaveOutAt leaves out the resources at positions, which have errors.
func (s *Set) leaveOutAt(failed map[diag.Position][]diag.Diagnostic, stored bool) {
	if len(failed) == 0 {
		return
	}
	leave := func(m *Meta) bool {
		errors, left := failed[m.Pos]
		if left {
			delete(s.Sources, m.Pos)
			s.LeftOut = append(s.LeftOut, LeftOut{Kind: m.Kind, Errors: errors, Stored: stored, Labels: m.Labels})
		}
		return left
	}
	s.Meshes = slices.DeleteFunc(s.Meshes, func(m *Mesh) bool { return leave(&m.Meta) })
	s.Dataplanes = slices.DeleteFunc(s.Dataplanes, func(d *Dataplane) bool { return leave(&d.Meta) })
	s.Policies = slices.DeleteFunc(s.Policies, func(p *Policy) bool { return leave(&p.Meta) })
	s.Objects = slices.DeleteFunc(s.Objects, func(o Object) bool { return leave(o.Identity()) })
	s.Documents = slices.DeleteFunc(s.Documents, func(d *Document) bool { return leave(&d.Meta) })
}
