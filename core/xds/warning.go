package xds

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// A Warning is a part of a conf that cannot have an effect (SPEC 11.1).
type Warning struct {
	Policy *resource.Policy // nil if the warning is about the dataplane
	array  string           // of the policy: to, from, rules or, for a conf without arrays, default
	Index  int              // of the item in its array
	Field  string           // JSON pointer into the conf; "" for the whole conf
	// Place is the name of the resource that the conf was meant for.
	Place   string
	Message string
	// Error reports that the dataplane cannot be served as its policies ask for, and
	// that clients are denied instead (SPEC 7.5b).
	Error bool
}

// String returns such as
// "kri_mt_default___t_ item 0 /connectionTimeout: a route has no ... (default/web)".
func (w Warning) String() string {
	if w.Policy == nil {
		return fmt.Sprintf("%s: %s", w.Place, w.Message)
	}
	item := fmt.Sprintf("%s item %d", w.Policy.KRI(), w.Index)
	if w.Field != "" {
		item += " " + w.Field
	}
	return fmt.Sprintf("%s: %s (%s)", item, w.Message, w.Place)
}

// compare orders warnings by policy, item, field, place and message.
func (w Warning) compare(o Warning) int {
	text := func(w Warning) string {
		kri := ""
		if w.Policy != nil {
			kri = w.Policy.KRI()
		}
		return fmt.Sprintf("%s\x00%08d\x00%s\x00%s\x00%s", kri, w.Index, w.Field, w.Place, w.Message)
	}
	return strings.Compare(text(w), text(o))
}

// sortWarnings sorts warnings and removes repeated ones.
func sortWarnings(w []Warning) []Warning {
	slices.SortFunc(w, Warning.compare)
	return slices.CompactFunc(w, func(a, b Warning) bool { return a.compare(b) == 0 })
}

// report collects the warnings of one draft.
type report struct {
	place     string
	isInbound bool // items are those of from and rules, also if a policy has others
	warnings  []Warning
}

// Warn reports that a field of a conf cannot have an effect here. The field is a
// JSON pointer into the conf; the warning names each item that set the field or a
// part of it. The pointer "" is that of the whole conf, and for each of its items.
func (r *report) Warn(e *rules.Effective, field, format string, args ...any) {
	r.warn(e, field, func(rules.Origin) bool { return true }, fmt.Sprintf(format, args...))
}

// WarnProtocol is Warn for a field of `to` that has no effect with the protocol of
// the destination. It names no item for the whole mesh: such an item is meant for
// the destinations where it has an effect.
func (r *report) WarnProtocol(e *rules.Effective, field, format string, args ...any) {
	r.warn(e, field, func(o rules.Origin) bool {
		return targetOf(o) != resource.TargetMesh
	}, fmt.Sprintf(format, args...))
}

// WarnRoute is Warn for a field of `to` that a cluster or a listener has, and a route
// cannot have. It names the items for a route alone: an item for the outbound has its
// effect there (SPEC 11.4).
func (r *report) WarnRoute(e *rules.Effective, field, format string, args ...any) {
	r.warn(e, field, func(o rules.Origin) bool {
		return o.Policy.TargetRef.Kind.IsRoute() || targetOf(o).IsRoute()
	}, fmt.Sprintf(format, args...))
}

// WarnInbound is Warn for a field of `from` or `rules` that has no effect with the
// protocol of the inbound. It names no policy for the whole mesh: such a policy is
// meant for the inbounds where it has an effect.
func (r *report) WarnInbound(e *rules.Effective, field, format string, args ...any) {
	r.warn(e, field, func(o rules.Origin) bool {
		return o.Policy.TargetRef.Kind != resource.TargetMesh
	}, fmt.Sprintf(format, args...))
}

// targetOf returns what an item of `to` selects; NoTarget for another item.
func targetOf(o rules.Origin) resource.TargetKind {
	if o.Index < len(o.Policy.To) {
		return o.Policy.To[o.Index].TargetRef.Kind
	}
	return resource.NoTarget
}

// warn adds a warning for each item that set a field and that is named.
func (r *report) warn(e *rules.Effective, field string, isNamed func(rules.Origin) bool, message string) {
	var named []rules.Origin
	add := func(o rules.Origin) {
		if !slices.Contains(named, o) && isNamed(o) {
			named = append(named, o)
			r.WarnPolicy(o.Policy, o.Index, field, "%s", message)
		}
	}
	if field == "" {
		for _, o := range e.Origins {
			add(o)
		}
		return
	}
	for pointer, o := range e.Fields() {
		if pointer == field || strings.HasPrefix(pointer, field+"/") || strings.HasPrefix(field, pointer+"/") {
			add(o)
		}
	}
}

// WarnPolicy reports that a field of an item of a policy cannot have an effect here.
func (r *report) WarnPolicy(p *resource.Policy, index int, field, format string, args ...any) {
	array := "from"
	switch {
	case p.Type.Default != nil:
		array = "default"
	case !r.isInbound && len(p.To) > 0:
		array = "to"
	case len(p.Rules) > 0:
		array = "rules"
	}
	r.warnings = append(r.warnings, Warning{Policy: p, array: array, Index: index, Field: field, Place: r.place, Message: fmt.Sprintf(format, args...)})
}

// WarnPlace reports what is not as the dataplane and its policies ask for, of which
// no single policy is the cause.
func (r *report) WarnPlace(format string, args ...any) {
	r.warnings = append(r.warnings, Warning{Place: r.place, Message: fmt.Sprintf(format, args...)})
}

// Fail reports that the dataplane cannot be served as its policies ask for, so that
// clients are denied.
func (r *report) Fail(format string, args ...any) {
	r.warnings = append(r.warnings, Warning{Place: r.place, Message: fmt.Sprintf(format, args...), Error: true})
}

// warnIgnored reports the fields of a conf, which may be nil, that its translator
// ignores.
func (r *report) warnIgnored(t *Translator, e *rules.Effective) {
	if e != nil {
		eachIgnored(t.Ignored, e.Conf, func(pointer, reason string) { r.Warn(e, pointer, "%s", reason) })
	}
}

// eachIgnored calls report with the JSON pointers to the ignored fields that a conf has,
// and the reason.
func eachIgnored(fields []IgnoredField, conf resource.Conf, report func(pointer, reason string)) {
	if len(fields) == 0 {
		return
	}
	data, err := json.Marshal(conf)
	if err != nil {
		return // a conf that has no JSON sets no field
	}
	var tree any
	_ = json.Unmarshal(data, &tree)
	for _, ignored := range fields {
		for _, pointer := range pointersTo(tree, strings.Split(ignored.Field, "/")[1:]) {
			report(pointer, ignored.Reason)
		}
	}
}

// pointersTo returns the JSON pointers of the values at a path, in which * is any
// element of a list.
func pointersTo(tree any, path []string) []string {
	if len(path) == 0 {
		return []string{""}
	}
	var pointers []string
	add := func(key string, value any) {
		for _, rest := range pointersTo(value, path[1:]) {
			pointers = append(pointers, "/"+key+rest)
		}
	}
	switch tree := tree.(type) {
	case map[string]any:
		if value, present := tree[path[0]]; present {
			add(path[0], value)
		}
	case []any:
		for i, value := range tree {
			if path[0] == "*" {
				add(strconv.Itoa(i), value)
			}
		}
	}
	return pointers
}
