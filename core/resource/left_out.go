package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// LeftOut is an input that a load with [Loader.KeepGoing] did not read: a document
// or, if Kind is empty, a file or a part of a file that is not a document.
type LeftOut struct {
	Kind   string // as in the document; empty: unknown
	Errors []diag.Diagnostic
	// Stored documents are from a control plane, which are left out even without
	// [Loader.KeepGoing] (SPEC 14.1). Labels are theirs, as far as they can be read.
	Stored bool
	Labels Tags
}

// counts contains the lengths of the lists of a set.
type counts struct{ meshes, dataplanes, policies, objects, documents int }

func (s *Set) counts() counts {
	return counts{len(s.Meshes), len(s.Dataplanes), len(s.Policies), len(s.Objects), len(s.Documents)}
}

// truncate removes the elements that were added to the lists since.
func (s *Set) truncate(c counts) {
	s.Meshes, s.Dataplanes, s.Policies = s.Meshes[:c.meshes], s.Dataplanes[:c.dataplanes], s.Policies[:c.policies]
	s.Objects, s.Documents = s.Objects[:c.objects], s.Documents[:c.documents]
}

// leavingOut decodes one document. If it has errors, leavingOut removes its
// resources.
func (d *decoder) leavingOut(in *strict.Value, stored bool, decode func(*strict.Value, bool)) {
	sink := in.At().Sink()
	before, depending, kept := sink.Mark(), len(sink.Depending()), d.out.counts()
	decode(in, stored)
	errors := sink.Cut(before)
	if len(errors) == 0 {
		return
	}
	sink.CutDepending(depending)
	d.out.truncate(kept)
	delete(d.out.Sources, in.At().Pos())
	d.out.LeftOut = append(d.out.LeftOut, LeftOut{Kind: kindIn(in), Errors: errors, Stored: stored, Labels: labelsIn(in)})
}

// labelsIn returns the labels of a document that did not load.
func labelsIn(in *strict.Value) Tags {
	fields := in.Field("labels")
	if metadata := in.Field("metadata"); metadata != nil {
		fields = metadata.Field("labels")
	}
	if fields == nil {
		return nil
	}
	labels := map[string]string{}
	for name := range fields.EachName {
		labels[name] = fields.FieldText(name)
	}
	return NewTags(labels)
}

// keepGoing completes a set from which inputs were left out. It leaves out all
// resources with the same identity, so that no answer depends on their order, unless they
// are claimed. If nothing was read, it returns the errors.
func (s *Set) keepGoing(sink *diag.Sink, claimed bool) error {
	var twice diag.Sink
	s.sortUnique(&twice)
	if repeated := twice.Cut(0); len(repeated) > 0 && !claimed {
		s.Meshes = leaveRepeated(s, s.Meshes, repeated)
		s.Dataplanes = leaveRepeated(s, s.Dataplanes, repeated)
		s.Policies = leaveRepeated(s, s.Policies, repeated)
		s.Objects = leaveRepeated(s, s.Objects, repeated)
		s.Documents = leaveRepeated(s, s.Documents, repeated)
	}
	if errors := sink.Cut(0); len(errors) > 0 {
		s.LeftOut = append(s.LeftOut, LeftOut{Errors: errors})
	}
	return s.allLeftOut(sink)
}

// allLeftOut returns the errors of what was left out if nothing else was read.
func (s *Set) allLeftOut(sink *diag.Sink) error {
	if s.counts() != (counts{}) || len(s.LeftOut) == 0 {
		return nil
	}
	s.failLeftOut(sink)
	return sink.Err()
}

// failLeftOut makes what was left out errors.
func (s *Set) failLeftOut(sink *diag.Sink) {
	for _, left := range s.LeftOut {
		for _, e := range left.Errors {
			sink.Error(e)
		}
	}
}

// leaveRepeated removes from a sorted list all resources that share their identity
// with another.
func leaveRepeated[T interface{ Identity() *Meta }](s *Set, list []T, repeated []diag.Diagnostic) []T {
	same := func(i, j int) bool {
		return j >= 0 && j < len(list) && list[j].Identity().ID == list[i].Identity().ID
	}
	kept := make([]T, 0, len(list))
	for i := range list {
		m := list[i].Identity()
		if !same(i, i-1) && !same(i, i+1) {
			kept = append(kept, list[i])
			continue
		}
		delete(s.Sources, m.Pos)
		left := LeftOut{Kind: m.Kind, Errors: slices.DeleteFunc(slices.Clone(repeated), func(e diag.Diagnostic) bool { return e.Pos != m.Pos })}
		if len(left.Errors) == 0 { // the first of them
			left.Errors = []diag.Diagnostic{{
				Code: diag.DuplicateResource, Pos: m.Pos, Path: "name", What: "duplicate " + m.ID.String(), Hint: "another one is at " + list[i+1].Identity().Pos.String(),
			}}
		}
		s.LeftOut = append(s.LeftOut, left)
	}
	return kept
}
