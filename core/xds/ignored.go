package xds

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// WarnIgnored reports the fields of a conf that its translator ignores. The conf may be
// nil.
func (r *Report) WarnIgnored(t *Translator, e *results.Effective) {
	if e != nil {
		eachIgnored(t.Ignored, e.Conf, func(pointer, reason string) { r.Warn(diag.NoEffectHere, e, pointer, "%s", reason) })
	}
}

// eachIgnored calls report for each of the given fields that a conf sets, with its JSON
// pointer and the reason.
func eachIgnored(fields []IgnoredField, conf resource.Conf, report func(pointer, reason string)) {
	if len(fields) == 0 {
		return
	}
	data, err := json.Marshal(conf)
	if err != nil {
		return // a conf without JSON sets no field
	}
	var tree any
	_ = json.Unmarshal(data, &tree)
	for _, ignored := range fields {
		for _, pointer := range pointersTo(tree, strings.Split(ignored.Field, "/")[1:]) {
			report(pointer, ignored.Reason)
		}
	}
}

// pointersTo returns the JSON pointers of the values at a path. In the path, * is any
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

// WarnIgnoredByGRPC reports the fields of a conf that gRPC ignores. The conf may be nil.
// An item is not named if it and its policy both select the whole mesh: it is meant for
// the nodes where it has an effect.
func (r *Report) WarnIgnoredByGRPC(t *Translator, e *results.Effective) {
	if e == nil || len(t.IgnoredByGRPC) == 0 {
		return
	}
	named := func(o results.Origin) bool {
		target := targetOf(o)
		return o.Policy.TargetRef.Kind != resource.TargetMesh || target != resource.TargetMesh && target != resource.NoTarget
	}
	if !slices.ContainsFunc(e.Origins, named) {
		return
	}
	how := func(o results.Origin) reported {
		if named(o) {
			return warned
		}
		return notReported // NoEffect is about Envoy
	}
	eachIgnored(t.IgnoredByGRPC, e.Conf, func(pointer, reason string) { r.warn(diag.NotInGRPC, e, pointer, how, reason) })
}

// WarnIgnoredInbound reports the ignored fields of all confs of an inbound.
func (r *Report) WarnIgnoredInbound(t *Translator, conf InboundConf) {
	r.WarnIgnored(t, conf.Default)
	if conf.InboundConfig == nil || len(t.Ignored) == 0 {
		return
	}
	for k := range conf.Rules {
		r.WarnIgnored(t, conf.Rules[k].Effective)
	}
	if conf.From == nil {
		return
	}
	for _, o := range conf.From.Origins() { // their confs are merged for each client
		eachIgnored(t.Ignored, o.Policy.From[o.Index].Conf, func(pointer, reason string) {
			r.WarnPolicy(diag.NoEffectHere, o.Policy, o.Index, pointer, "%s", reason)
		})
	}
}
