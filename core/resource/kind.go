package resource

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Kind describes a policy kind: what its files may contain and how its Confs are
// merged. Kinds are made by the packages in core/kind and by embedders;
// a Kind is never written to after it was made.
type Kind struct {
	Name  string // as in `type:`, such as MeshTimeout
	Short string // in KRIs, such as mt
	// Top is what a top-level targetRef may be.
	Top TargetKinds
	// ItemsRequired: an empty `to` or `from` alone is an error, not a warning (SPEC 1.4).
	ItemsRequired bool
	// The arrays and the single conf that the kind has; nil: it has none
	// (SPEC 2.4). Default excludes the others.
	To, From, Rules, Default *Section
	// Gateway is `to` of a policy for a MeshGateway whose items are of kind Mesh: they are
	// for the listeners of the gateway, and select no outbound. Nil: To has such items, or
	// the kind has none.
	Gateway *Section
}

// Section describes one array of a kind, or its single `default`.
type Section struct {
	// Targets is what an item's targetRef may be; unused for Rules and
	// Default, whose items have none.
	Targets TargetKinds
	Conf    ConfType
	// Inline: the Conf's fields are in the item itself, next to targetRef,
	// and not under `default` (the route kinds).
	Inline bool
	// Matches: a rule may have `matches`.
	Matches bool
	// HTTPFields are the fields of a Conf, as JSON pointers, that have no effect where only
	// connections are visible: on TCP (SPEC 11.3).
	HTTPFields []string
	// Unmerged: rules are lists of their own, each keeps its policy
	// (SPEC 7.3).
	Unmerged bool
}

// Conf is a pointer to a kind's Conf value. It is immutable.
type Conf any

// ConfType is a Conf type for code that is common to all kinds. [ConfOf]
// makes it from generated code.
type ConfType interface {
	// Decode reads a Conf; fields named in except are ignored. It
	// returns nil where it reported an error.
	Decode(at *strict.Value, except ...string) Conf
	// Validate reports what Decode would report for a Conf that was made in Go,
	// and a Conf of another type. It reports whether there is no error.
	Validate(at *diag.At, c Conf) bool
	// NewMerger returns an empty merger; see [Merger]. It allocates once.
	NewMerger() Merger
	Equal(a, b Conf) bool
	// HasUnion reports whether the type contains a discriminated union. Then an item
	// that sets no leaf can change the result: a union of another type in it hides
	// that of lower items (SPEC 6). For other types the origins of a merge alone
	// determine the result.
	HasUnion() bool
}

// Merger folds Confs of one type from the highest priority to the lowest. It
// neither changes nor keeps the Confs, but what it returns shares with them
// parts that are never written.
type Merger interface {
	// Fill sets what is not set yet from a Conf of lower priority than all
	// before it. Items are numbered by the caller, higher priority having the
	// larger number. It reports whether nothing is left that a lower Conf
	// could set.
	Fill(lower Conf, item int) (complete bool)
	// Conf returns the merged Conf. Fill must not be called afterwards.
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

// NewKinds returns the set of the given kinds. It panics for an error of
// the program: a kind without a name or short name of its own, with arrays next to a
// default, or with an array whose items may select what does not exist.
func NewKinds(kinds ...*Kind) *Kinds {
	k := &Kinds{sorted: slices.Clone(kinds)}
	slices.SortFunc(k.sorted, func(a, b *Kind) int { return strings.Compare(a.Name, b.Name) })
	shorts := map[string]string{} // the kinds by short name
	for name, short := range fixedKinds {
		shorts[short] = name
	}
	for i, kind := range k.sorted {
		flaw := kind.flaw()
		if other, taken := shorts[kind.Short]; taken {
			flaw = fmt.Sprintf("has the short name %q of kind %s", kind.Short, other)
		}
		if i > 0 && k.sorted[i-1].Name == kind.Name {
			flaw = "is there twice"
		}
		if flaw != "" {
			panic("resource: kind " + kind.Name + " " + flaw)
		}
		shorts[kind.Short] = kind.Name
	}
	return k
}

// flaw returns what is wrong with a kind by itself.
func (k *Kind) flaw() string {
	const outbounds = ToTargets | TargetKinds(1<<TargetMeshSubset|1<<TargetMeshTCPRoute)
	switch {
	case k.Name == "" || fixedKinds[k.Name] != "" || k.Short == "":
		return "has no name of its own"
	case k.Default != nil && (k.To != nil || k.From != nil || k.Rules != nil || k.Gateway != nil):
		return "has arrays next to a default"
	case k.To != nil && k.To.Targets&^outbounds != 0:
		return "selects outbounds by " + (k.To.Targets &^ outbounds).String()
	case k.Gateway != nil && k.Gateway.Targets != GatewayTargets:
		return "selects listeners of gateways by " + k.Gateway.Targets.String()
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

// IsRoute reports whether policies of the kind are routes, to which other
// policies can be attached (SPEC 4.3).
func (k *Kind) IsRoute() bool { return isRouteKind(k.Name) }

// IsRoute reports whether the resource is a route: a policy of a route kind.
func (id ID) IsRoute() bool { return isRouteKind(id.Kind) }

func isRouteKind(name string) bool {
	return name == targetKindNames[TargetMeshHTTPRoute] || name == targetKindNames[TargetMeshTCPRoute]
}
