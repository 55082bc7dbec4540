package resource

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Kind describes a policy kind: the syntax of its documents and how its Confs
// are merged. The packages in core/kind and embedders make Kinds. A Kind is
// never changed after it was made.
type Kind struct {
	Name  string // the `type` of documents, such as MeshTimeout
	Short string // in KRIs, such as mt
	// Top contains the allowed kinds of a top-level targetRef.
	Top TargetKinds
	// ItemsRequired makes an empty `to` or `from` an error, not a warning, if no other
	// part has items (SPEC 1.4).
	ItemsRequired bool
	// AcceptsEmpty means that a control plane of Kuma accepts a policy without content.
	// RefusesEmptyTo means that it refuses one whose `to` is an empty list (SPEC 1.4).
	AcceptsEmpty, RefusesEmptyTo bool
	// ToOrRules are the ways to read documents in which a policy has either `to` or `rules`.
	ToOrRules diag.Reading
	// NoFromBelowGateways means that a control plane of Kuma refuses `from` in a policy for a
	// MeshGateway or a route.
	NoFromBelowGateways bool
	// The arrays and the single conf of the kind; nil if the kind does not have
	// the part (SPEC 2.4). Default excludes the others.
	To, From, Rules, Default *Section
	// Gateway describes the `to` items of kind Mesh that apply to the listeners of builtin
	// gateways and select no outbound: the items of a policy for a MeshGateway and, if To is
	// nil, of any policy that includes gateways (SPEC 2.4). If Gateway is nil, To describes
	// such items, or the kind has none.
	Gateway *Section
}

// Section describes one array of a kind, or its single `default`.
type Section struct {
	// Targets contains the allowed kinds of an item's targetRef. It is unused
	// for Rules and Default, whose items have no targetRef.
	Targets TargetKinds
	Conf    ConfType
	// Inline means that the Conf's fields are in the item itself, next to
	// targetRef, and not in `default` (the route kinds).
	Inline bool
	// Matches means that a rule may have `matches`.
	Matches bool
	// HTTPFields are JSON pointers to the fields of a Conf that have no effect on TCP,
	// where only connections are visible (SPEC 11.3).
	HTTPFields []string
	// Unmerged means that rules are not merged: each rule keeps its policy
	// (SPEC 7.3).
	Unmerged bool
}

// Conf is a pointer to a kind's Conf value. It is immutable.
type Conf any

// ConfType is a Conf type for code that is common to all kinds. [ConfOf]
// makes it from generated code.
type ConfType interface {
	// Decode reads a Conf. It ignores the fields named in except. It returns
	// nil if it reported an error.
	Decode(at *strict.Value, except ...string) Conf
	// Validate checks a Conf that was made in Go. It reports the errors that
	// Decode would report, and a Conf of another type. It returns whether there
	// is no error.
	Validate(at *diag.At, c Conf) bool
	// NewMerger returns an empty merger; see [Merger]. It allocates once.
	NewMerger() Merger
	Equal(a, b Conf) bool
	// Schema returns the generated OpenAPI schema of the type as JSON, or "" if it has
	// none.
	Schema() string
	// HasUnion reports whether the type contains a discriminated union. If so, an
	// item that sets no leaf can change the result: its union hides a union of
	// another type in lower items (SPEC 6). For other types, the origins of a merge
	// determine the result.
	HasUnion() bool
}

// Merger folds Confs of one type from the highest priority to the lowest. It
// neither changes nor retains the Confs. Its result shares with them parts that
// are never changed.
type Merger interface {
	// Fill sets the unset leaves from a Conf whose priority is lower than in
	// all previous calls. The caller numbers the items; a higher priority has a
	// larger number. Fill reports whether the result is complete, so that no
	// lower Conf can set a leaf.
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

// NewKinds returns the set of the given kinds. It panics on a programming error: a
// kind without a unique name or short name, with arrays in addition to a default, or
// with an array whose targetRefs have an impossible kind.
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

// flaw returns the error in a kind itself.
func (k *Kind) flaw() string {
	const outbounds = ToTargets | TargetKinds(1<<TargetMeshSubset|1<<TargetMeshTCPRoute)
	switch {
	case k.Name == "" || fixedKinds[k.Name] != "":
		return "has no unique name"
	case k.Short == "":
		return "has no short name: set Short, such as mt for MeshTimeout"
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

// All returns the kinds, sorted by name. The caller must not change the slice.
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
