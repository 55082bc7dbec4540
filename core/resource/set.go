package resource

import (
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Set is resources, each slice sorted by identity: mesh, kind, namespace,
// name.
type Set struct {
	Meshes     []*Mesh
	Dataplanes []*Dataplane
	Policies   []*Policy
	Identities []*MeshIdentity
	Trusts     []*MeshTrust
	Objects    []Object // SPEC 17.2
	// Documents are those of the types in [Loader.Documents].
	Documents []*Document
	// Skipped counts the documents that were read and have no part in
	// matching, by kind (SPEC 1.2); nil if there are none.
	Skipped map[string]int
	// Unread counts the documents that configure proxies and are not read, by kind; each
	// kind has a warning. What they configure is in no answer.
	Unread map[string]int
	// LeftOut is what was not read, in the order of the input, with [Loader.KeepGoing].
	LeftOut []LeftOut
	// Warnings of the load, sorted by position.
	Warnings []diag.Diagnostic
	// Sources are the documents as they are written, as JSON, by the position of the
	// resource, with [Loader.KeepSources].
	Sources map[diag.Position]json.RawMessage
}

func (s *Set) join(o *Set) {
	s.Meshes = append(s.Meshes, o.Meshes...)
	s.Dataplanes = append(s.Dataplanes, o.Dataplanes...)
	s.Policies = append(s.Policies, o.Policies...)
	s.Identities = append(s.Identities, o.Identities...)
	s.Trusts = append(s.Trusts, o.Trusts...)
	s.Objects = append(s.Objects, o.Objects...)
	s.LeftOut = append(s.LeftOut, o.LeftOut...)
	s.Documents = append(s.Documents, o.Documents...)
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
