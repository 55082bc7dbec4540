package resource

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/strict"
)

// Kind describes a policy kind: what its files may say and how its Confs are
// merged. Kinds are made by the packages below core/conf and by embedders;
// a Kind is never written to after it was made.
type Kind struct {
	Name  string // as in `type:`, such as MeshTimeout
	Short string // in KRIs, such as mt
	// Top is what a top-level targetRef may be.
	Top TargetKinds
	// The arrays and the single conf that the kind has; nil: it has none
	// (SPEC 2.4). Default excludes the others.
	To, From, Rules, Default *Section
}

// Section describes one array of a kind, or its single `default`.
type Section struct {
	// Targets is what an item's targetRef may be; unused for Rules and
	// Default, whose items have none.
	Targets TargetKinds
	Conf    ConfType
	// Inline: the Conf's fields stand in the item itself, beside targetRef,
	// and not under `default` (the route kinds).
	Inline bool
	// Matches: a rule may have `matches`.
	Matches bool
	// Unmerged: rules are lists of their own, each keeps its policy
	// (SPEC 7.3).
	Unmerged bool
}

// Conf is a pointer to a kind's Conf value. It is immutable.
type Conf any

// ConfType is what the rest of the program knows of a Conf type. [ConfOf]
// makes it from generated code.
type ConfType interface {
	// Decode reads a Conf; fields named in except are somebody else's. It
	// returns nil where it reported an error.
	Decode(at *strict.At, except ...string) Conf
	// NewMerger returns an empty merger; see [Merger]. It allocates once.
	NewMerger() Merger
	Equal(a, b Conf) bool
	// Hash returns the xxhash of the content; equal Confs have equal hashes.
	Hash(c Conf) uint64
	Clone(c Conf) Conf
	// HidesBelow reports whether an item can matter though it sets nothing:
	// where a union has another type in it, lower items do not count (SPEC 6).
	// For other types only the origins of a merge decide what comes out.
	HidesBelow() bool
}

// Merger folds Confs of one type from the highest priority to the lowest. It
// neither changes nor keeps the Confs, but what it returns shares with them
// what nobody ever writes.
type Merger interface {
	// Fill sets what is not set yet from a Conf of lower priority than all
	// before it. Items are numbered by the caller, higher priority having the
	// larger number. It reports whether nothing is left that a lower Conf
	// could set.
	Fill(lower Conf, item int) (complete bool)
	// Conf returns the merged Conf; Fill must not be called any more.
	Conf() Conf
	// Origins appends the items that set at least one leaf of the result, in
	// ascending order (SPEC 6).
	Origins(dst []int) []int
	// Leaves yields the JSON pointer of each leaf and the item that set it.
	Leaves() iter.Seq2[string, int]
}

// Kinds is a set of policy kinds, immutable.
type Kinds struct {
	sorted []*Kind // by name
}

// NewKinds returns the set of the given kinds. It panics where one is an error
// of the program: it has no name or short name of its own, arrays beside a
// default, or an array whose items may select what there is none of.
func NewKinds(kinds ...*Kind) *Kinds {
	k := &Kinds{sorted: slices.Clone(kinds)}
	slices.SortFunc(k.sorted, func(a, b *Kind) int { return strings.Compare(a.Name, b.Name) })
	shorts := map[string]bool{"dp": true}
	for i, kind := range k.sorted {
		flaw := kind.flaw()
		if shorts[kind.Short] || i > 0 && k.sorted[i-1].Name == kind.Name {
			flaw = "has no name of its own"
		}
		if flaw != "" {
			panic("resource: kind " + kind.Name + " " + flaw)
		}
		shorts[kind.Short] = true
	}
	return k
}

// flaw returns what is wrong with a kind by itself.
func (k *Kind) flaw() string {
	const outbounds = ToTargets | TargetKinds(1<<TargetMeshSubset|1<<TargetMeshTCPRoute)
	switch {
	case k.Name == "" || k.Name == MeshKind || k.Name == DataplaneKind || k.Short == "":
		return "has no name of its own"
	case k.Default != nil && (k.To != nil || k.From != nil || k.Rules != nil):
		return "has arrays beside a default"
	case k.To != nil && k.To.Targets&^outbounds != 0:
		return "selects outbounds by " + (k.To.Targets &^ outbounds).String()
	case k.From != nil && k.From.Targets&^FromTargets != 0:
		return "selects clients by " + (k.From.Targets &^ FromTargets).String()
	}
	return ""
}

// All returns the kinds, sorted by name. The slice must not be changed.
func (k *Kinds) All() []*Kind { return k.sorted }

// Lookup returns the kind of that name, or nil.
func (k *Kinds) Lookup(name string) *Kind {
	i, ok := slices.BinarySearchFunc(k.sorted, name, func(kind *Kind, name string) int { return strings.Compare(kind.Name, name) })
	if !ok {
		return nil
	}
	return k.sorted[i]
}

// Names returns the kinds' names, sorted.
func (k *Kinds) Names() []string {
	names := make([]string, len(k.sorted))
	for i, kind := range k.sorted {
		names[i] = kind.Name
	}
	return names
}

// IsRoute reports whether policies of the kind are routes, which other
// policies can select by name (SPEC 4.3).
func (k *Kind) IsRoute() bool {
	return k.Name == TargetMeshHTTPRoute.String() || k.Name == TargetMeshTCPRoute.String()
}
