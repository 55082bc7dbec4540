package resource

import (
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Set contains resources. Each slice is sorted by identity: mesh, kind,
// namespace, name.
type Set struct {
	Meshes     []*Mesh
	Dataplanes []*Dataplane
	Policies   []*Policy
	Objects    []Object // SPEC 17.2
	// Documents are the documents of the types in [Loader.Documents].
	Documents []*Document
	// Skipped counts, by kind, the documents that were read but do not affect
	// matching (SPEC 1.2); nil if there are none.
	Skipped map[string]int
	// Unread counts, by kind, the documents that configure proxies but are not read;
	// each kind has a warning. No answer includes their configuration.
	Unread map[string]int
	// LeftOut lists the inputs that were not read, in the order of the input: those of a
	// control plane that do not load, and with [Loader.KeepGoing] all that do not load.
	LeftOut []LeftOut
	// NoResources are the positions of documents in walked directories that are no resources,
	// such as the values of a chart (SPEC 1.1).
	NoResources []diag.Position
	// Excluded are the patterns of [Loader.Exclude] that left something out.
	Excluded []string
	// Depending are the findings that depend on how the documents are read, until
	// [Set.ReadAs] is called.
	Depending []diag.Depending
	// Warnings are the warnings of the load, sorted by position.
	Warnings []diag.Diagnostic
	// Ignores are the comments and annotations that take findings out (SPEC 13.5), in the
	// order of the input.
	Ignores []diag.Ignore
	// Sources are the original documents as JSON, by the position of the resource,
	// with [Loader.KeepSources].
	Sources map[diag.Position]json.RawMessage
}

func (s *Set) join(o *Set) {
	s.Meshes = append(s.Meshes, o.Meshes...)
	s.Dataplanes = append(s.Dataplanes, o.Dataplanes...)
	s.Policies = append(s.Policies, o.Policies...)
	s.Objects = append(s.Objects, o.Objects...)
	s.LeftOut = append(s.LeftOut, o.LeftOut...)
	s.NoResources = append(s.NoResources, o.NoResources...)
	s.Excluded = append(s.Excluded, o.Excluded...)
	s.Documents = append(s.Documents, o.Documents...)
	s.Ignores = append(s.Ignores, o.Ignores...)
	for at, text := range o.Sources {
		s.keepSource(at, text)
	}
	for kind, n := range o.Skipped {
		count(&s.Skipped, kind, n)
	}
	for kind, n := range o.Unread {
		count(&s.Unread, kind, n)
	}
}

// count adds to the number of a kind.
func count(kinds *map[string]int, kind string, n int) {
	if *kinds == nil {
		*kinds = map[string]int{}
	}
	(*kinds)[kind] += n
}

func (s *Set) keepSource(at diag.Position, text json.RawMessage) {
	if s.Sources == nil {
		s.Sources = map[diag.Position]json.RawMessage{}
	}
	s.Sources[at] = text
}
