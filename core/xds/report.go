package xds

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Report collects the warnings of one draft. A Warn method names the items that a warning is
// about; the field is a JSON pointer into the conf, "" for the whole conf.
type Report struct {
	Place     string
	OfInbound bool // items are in from and rules, even if a policy also has `to`
	// OnlyTCP reports that the destination is TCP: by the tag of the outbound, or because it
	// has endpoints and all of them are TCP.
	OnlyTCP  bool
	Warnings []Warning
	Applied  []Applied

	setters setters
}

// Applied is a field of a kind's conf that had an effect. The field is a JSON pointer.
type Applied struct{ Kind, Field string }

// Apply records that a field had an effect; see [Translator.Required].
func (r *Report) Apply(kind, field string) {
	if a := (Applied{kind, field}); !slices.Contains(r.Applied, a) {
		r.Applied = append(r.Applied, a)
	}
}

// Warn reports that a field of a conf cannot have an effect here. It names each item that
// set the field or a part of it; for the field "", each item of the conf.
func (r *Report) Warn(code diag.Code, e *results.Effective, field, format string, args ...any) {
	r.warn(code, e, field, func(results.Origin) reported { return warned }, fmt.Sprintf(format, args...))
}

// WarnUnresolved is Warn for a reference that finds nothing. Package inspect gives the
// warning too.
func (r *Report) WarnUnresolved(e *results.Effective, field, message string) {
	first := len(r.Warnings)
	r.Warn(diag.UnresolvedReference, e, field, "%s", message)
	for i := range r.Warnings[first:] {
		r.Warnings[first+i].Inspected = true
	}
}

// Advise reports a consequence of a field that has an effect.
func (r *Report) Advise(code diag.Code, e *results.Effective, field, message string) {
	first := len(r.Warnings)
	r.Warn(code, e, field, "%s", message)
	for i := range r.Warnings[first:] {
		r.Warnings[first+i].Advice = true
	}
}

// WarnProtocol is Warn for a field of `to` that has no effect with the protocol of the
// destination. It does not name an item for the whole mesh: such an item is meant for the
// destinations where it has an effect.
func (r *Report) WarnProtocol(e *results.Effective, field, format string, args ...any) {
	r.warn(diag.NoEffectWithProtocol, e, field, func(o results.Origin) reported {
		return unlessOfMesh(targetOf(o))
	}, fmt.Sprintf(format, args...))
}

// WarnHTTPFields is WarnProtocol for those fields of `to` that have no effect on TCP in this
// kind; see [resource.Section]. If the destination is only TCP, package inspect gives the
// warning too.
func (r *Report) WarnHTTPFields(e *results.Effective, reason string) {
	first := len(r.Warnings)
	for _, field := range e.Origins[0].Policy.Type.To.HTTPFields {
		r.WarnProtocol(e, field, "%s", reason)
	}
	for i := range r.Warnings[first:] {
		r.Warnings[first+i].Inspected = r.OnlyTCP
	}
}

// WarnRoute is Warn for a field of `to` that belongs to a cluster or a listener and that a
// route cannot have. It names only items for a route: an item for the outbound has its
// effect on the cluster or listener (SPEC 11.4).
func (r *Report) WarnRoute(e *results.Effective, field, format string, args ...any) {
	r.warn(diag.NoEffectOnRoute, e, field, func(o results.Origin) reported {
		if o.Policy.TargetRef.Kind.IsRoute() || targetOf(o).IsRoute() {
			return warned
		}
		return notReported
	}, fmt.Sprintf(format, args...))
}

// WarnInbound is Warn for a field of `from`, `rules` or `default` that has no effect here,
// for example because of the protocol of the inbound. It does not name a policy for the
// whole mesh: such a policy is meant for the places where it has an effect.
func (r *Report) WarnInbound(e *results.Effective, field, format string, args ...any) {
	r.warn(diag.NoEffectHere, e, field, func(o results.Origin) reported {
		return unlessOfMesh(o.Policy.TargetRef.Kind)
	}, fmt.Sprintf(format, args...))
}

// targetOf returns the target kind of an item of `to`; NoTarget for any other item.
func targetOf(o results.Origin) resource.TargetKind {
	if o.Index < len(o.Policy.To) {
		return o.Policy.To[o.Index].TargetRef.Kind
	}
	return resource.NoTarget
}

// reported is how an item is reported.
type reported int

const (
	notReported reported = iota
	silent
	warned
)

// unlessOfMesh returns warned, but silent if the item is for the whole mesh.
func unlessOfMesh(target resource.TargetKind) reported {
	if target == resource.TargetMesh {
		return silent
	}
	return warned
}

// warn adds a warning for each item that set a field.
func (r *Report) warn(code diag.Code, e *results.Effective, field string, how func(results.Origin) reported, message string) {
	origins := e.Origins
	if field != "" {
		if !slices.ContainsFunc(origins, func(o results.Origin) bool { return how(o) != notReported }) {
			return // usually; the fields need not be found
		}
		origins = r.setters.settersOf(e, field)
	}
	for i, o := range origins {
		if slices.Contains(origins[:i], o) {
			continue
		}
		switch how(o) {
		case warned:
			r.WarnPolicy(code, o.Policy, o.Index, field, "%s", message)
		case silent:
			w := r.ofPolicy(code, o.Policy, o.Index, field, message)
			w.Silent = true
			r.Warnings = append(r.Warnings, w)
		}
	}
}

// Weaken reports that a field of a conf weakens the permissions of the dataplane. The
// warning is an error for each policy that is not labelled to do so (SPEC 11.5).
func (r *Report) Weaken(e *results.Effective, field, what string) {
	own := Report{Place: r.Place, OfInbound: r.OfInbound}
	own.Warn(diag.WeakensOnPurpose, e, field, "it weakens the permissions: %s", what)
	for _, w := range own.Warnings {
		if w.Weakens = true; !w.Policy.MayWeaken() {
			w.Error, w.Code = true, diag.WeakensPermissions
			w.Message += fmt.Sprintf("; to do so on purpose, give the policy the label %s: \"true\"", resource.WeakensLabel)
		}
		r.Warnings = append(r.Warnings, w)
	}
}

// WarnPolicy reports that a field of an item of a policy cannot have an effect here.
func (r *Report) WarnPolicy(code diag.Code, p *resource.Policy, index int, field, format string, args ...any) {
	r.Warnings = append(r.Warnings, r.ofPolicy(code, p, index, field, fmt.Sprintf(format, args...)))
}

// WarnInspected is WarnPolicy for a warning that package inspect gives too. A field that
// denies more than it would elsewhere has an effect.
func (r *Report) WarnInspected(code diag.Code, p *resource.Policy, index int, field, message string) {
	w := r.ofPolicy(code, p, index, field, message)
	w.Inspected, w.Advice = true, code == diag.BroaderOnTCP
	r.Warnings = append(r.Warnings, w)
}

func (r *Report) ofPolicy(code diag.Code, p *resource.Policy, index int, field, message string) Warning {
	array := "from"
	switch {
	case p.Type.Default != nil:
		array = "default"
	case !r.OfInbound && len(p.To) > 0:
		array = "to"
	case len(p.Rules) > 0:
		array = "rules"
	}
	return Warning{Code: code, Policy: p, array: array, Index: index, Field: field, Place: r.Place, Message: message}
}

// WarnPlace reports a difference from what the dataplane and its policies ask for, if no
// single policy is the cause.
func (r *Report) WarnPlace(code diag.Code, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Place: r.Place, Message: fmt.Sprintf(format, args...)})
}

// Fail reports that the dataplane cannot be served as its policies ask for, and that
// clients are denied instead.
func (r *Report) Fail(code diag.Code, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Place: r.Place, Message: fmt.Sprintf(format, args...), Error: true})
}
