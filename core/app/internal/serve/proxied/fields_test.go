package proxied_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// Each field of each Conf has an effect, or a warning names it (SPEC 11.1). The policies
// of testdata/fields have all fields. Each of them is removed, or has another value:
// then another snapshot must be the result, unless a warning names the field.
//
// What each edit changes is in the table of package effect.
//
// A field that inspect shows without a mark must change the snapshot of the dataplane; a
// field with a mark must not (SPEC 10).
func TestEachFieldHasAnEffectOrAWarning(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a few thousand snapshots")
	}
	world := readFile(t, "world.yaml")
	for _, kind := range kinds.All().All() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			w := fieldWorld{world: world, kind: kind, policies: documents(t, kind.Name+".yaml"), effects: effects{}}
			before, err := w.build(w.policies)
			if err != nil {
				t.Fatal(err)
			}
			w.checkCoverage(t)
			for i := range w.policies {
				w.check(t, before, i)
			}
			w.checkMarks(t, before)
			moved := 0
			for i, array := range w.moved() {
				before, err := array.build(array.policies)
				if err != nil {
					continue // the array has other confs
				}
				moved++
				array.check(t, before, i)
				array.checkMarks(t, before)
			}
			single := kind.Default != nil || kind.To != nil && kind.To.Inline ||
				kind.Name == "MeshTrafficPermission" // its arrays have no field in common
			w.edit(t, w.effects)
			w.effects.check(t, kind.Name)
			if single != (moved == 0) {
				t.Errorf("%d confs are valid in another array of the kind", moved)
			}
		})
	}
}

// fieldWorld is a mesh with all policies of one kind that have its fields.
type fieldWorld struct {
	world    []byte
	kind     *resource.Kind
	policies []any   // documents as trees of JSON
	effects  effects // of the edits so far
}

// outcome is all snapshots of a world, and the fields that warnings name.
type outcome struct {
	text   map[string]string // by dataplane
	warned []string          // POLICY FIELD
	shown  map[string]*shown // by DATAPLANE ITEM FIELD, the fields that inspect shows
	marks  map[string][]inspect.NoEffect

	resources map[string]dataplaneResources // by dataplane
}

// shown counts the places at which a dataplane has a field of an item.
type shown struct{ marked, unmarked int }

func (w *fieldWorld) build(policies []any) (outcome, error) {
	out := outcome{text: map[string]string{}, shown: map[string]*shown{}, marks: map[string][]inspect.NoEffect{},
		resources: map[string]dataplaneResources{}}
	all := kinds.All() // inspect compares sections by their pointers
	inputs := []resource.Input{{Name: "world.yaml", Data: w.world}}
	for i, policy := range policies {
		data, err := json.Marshal(policy)
		if err != nil {
			return out, err
		}
		inputs = append(inputs, resource.Input{Name: fmt.Sprintf("%d.json", i), Data: data})
	}
	set, err := (&resource.Loader{Kinds: all}).Decode(context.Background(), inputs...)
	if err != nil {
		return out, err
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), all, set)
	if err != nil {
		return out, err
	}
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
	for _, mesh := range view.Meshes() {
		for _, d := range view.Dataplanes(mesh) {
			snapshot := state.Snapshot(d, xds.Envoy)
			data, err := json.Marshal(snapshot)
			if err != nil {
				return out, err
			}
			out.text[d.Name] = string(data)
			out.resources[d.Name] = resourcesOf(snapshot)
			out.marks[d.Name] = proxied.NoEffect(state, d)
			answer, err := inspect.NewDataplane(view, d, inspect.Options{Explain: true, NoEffect: out.marks[d.Name]})
			if err != nil {
				return out, err
			}
			out.add(d.Name, reflect.ValueOf(answer))
			for _, warning := range snapshot.Warnings() {
				if warning.Policy != nil {
					out.warned = append(out.warned, warning.Policy.Name+" "+warning.Field)
				}
			}
		}
	}
	return out, nil
}

// add counts the fields in a part of an answer.
func (o *outcome) add(dataplane string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			o.add(dataplane, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			o.add(dataplane, v.Index(i))
		}
	case reflect.Map:
		fields, _ := v.Interface().(map[string]inspect.ItemRef)
		for pointer, origin := range fields {
			key := dataplane + " " + origin.Item + " " + pointer
			if o.shown[key] == nil {
				o.shown[key] = &shown{}
			}
			if origin.NoEffect != "" {
				o.shown[key].marked++
			} else {
				o.shown[key].unmarked++
			}
		}
	case reflect.Struct:
		if v.Type().PkgPath() == reflect.TypeFor[inspect.ItemRef]().PkgPath() {
			for i := range v.NumField() {
				o.add(dataplane, v.Field(i))
			}
		}
	}
}

// checkCoverage checks that the policies have all fields of the kind's Confs.
func (w *fieldWorld) checkCoverage(t *testing.T) {
	t.Helper()
	var inputs []resource.Input
	for _, policy := range w.policies {
		data, _ := json.Marshal(policy)
		inputs = append(inputs, resource.Input{Name: "p.json", Data: data})
	}
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	present := map[string]bool{}
	for _, policy := range set.Policies {
		for _, item := range slices.Concat(policy.To, policy.From) {
			fieldsOf(reflect.ValueOf(item.Conf), present)
		}
		for _, rule := range policy.Rules {
			fieldsOf(reflect.ValueOf(rule.Conf), present)
		}
		fieldsOf(reflect.ValueOf(policy.Default), present)
	}
	for name, set := range present {
		if !set {
			t.Errorf("testdata/fields/%s.yaml does not have field %s", w.kind.Name, name)
		}
	}
}

// route is what confs for a route apply to.
const route = `{"type": "MeshHTTPRoute", "mesh": "default", "name": "route", "spec": {"to": [
	{"targetRef": {"kind": "MeshService", "name": "backend"}, "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/a"}}], "default": {}}]}]}}`

// moved yields worlds in which one policy has one of its confs alone, in another array of
// the kind or for a route, with the policy's index.
func (w *fieldWorld) moved() iter.Seq2[int, fieldWorld] {
	to := func(ref map[string]any) map[string]any { return map[string]any{"targetRef": ref} }
	mesh := map[string]any{"kind": "Mesh"}
	places := map[string][]map[string]any{}
	if w.kind.To != nil && !w.kind.To.Inline {
		places["to"] = []map[string]any{to(mesh), to(map[string]any{"kind": "MeshHTTPRoute", "name": "route"})}
	}
	if w.kind.From != nil {
		places["from"] = []map[string]any{to(mesh)}
	}
	if w.kind.Rules != nil {
		places["rules"] = []map[string]any{{}}
	}
	return func(yield func(int, fieldWorld) bool) {
		for i, policy := range w.policies {
			if policy.(map[string]any)["type"] != w.kind.Name {
				continue
			}
			spec := policy.(map[string]any)["spec"].(map[string]any)
			for _, at := range confsOf(spec) {
				for array, items := range places {
					for k, item := range items {
						if array == at.path[0] && k == 0 {
							continue // it is there
						}
						other := clone(policy).(map[string]any)
						item = maps.Clone(item)
						item["default"] = at.conf
						other["spec"] = map[string]any{array: []any{item}}
						if ref, ok := spec["targetRef"]; ok {
							other["spec"].(map[string]any)["targetRef"] = ref
						}
						policies := append(slices.Clone(w.policies), clone(json.RawMessage(route)))
						policies[i] = other
						if !yield(i, fieldWorld{w.world, w.kind, policies, w.effects}) {
							return
						}
					}
				}
			}
		}
	}
}

// fieldsOf notes the fields of a value and of the structs in it, by type and name, with
// whether they are set anywhere.
func fieldsOf(v reflect.Value, present map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fieldsOf(v.Elem(), present)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fieldsOf(v.Index(i), present)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			present[name] = present[name] || !v.Field(i).IsZero()
			fieldsOf(v.Field(i), present)
		}
	}
}

// check changes each field of one policy.
func (w *fieldWorld) check(t *testing.T, before outcome, index int) {
	policy := w.policies[index].(map[string]any)
	if policy["type"] != w.kind.Name {
		return
	}
	name := policy["name"].(string)
	if without, err := w.build(slices.Delete(slices.Clone(w.policies), index, index+1)); err == nil {
		w.effects.add("", without, before)
	}
	for _, at := range confsOf(policy["spec"].(map[string]any)) {
		for _, path := range leaves(at.conf) {
			pointer := "/" + strings.Join(path, "/")
			switch path[len(path)-1] {
			case "type", "op":
				continue // of a union, whose arm is compared, and of a JSON patch, whose result is
			}
			warned := slices.ContainsFunc(before.warned, func(warned string) bool {
				field, of := strings.CutPrefix(warned, name+" ")
				return of && (field == pointer || strings.HasPrefix(pointer, field+"/") || field == "")
			})
			unmarked := before.unmarked(name+" "+at.item(), pointer)
			if warned && len(unmarked) == 0 {
				continue
			}
			valid, affected := w.changed(before, index, append(slices.Clone(at.path), path...), path, unmarked)
			switch {
			case !valid:
				t.Errorf("%s %s%s: no other value of the field is valid", name, at.name(), pointer)
			case len(affected) == 0 && !warned:
				t.Errorf("%s %s%s has no effect, and no warning", name, at.name(), pointer)
			}
			if strings.HasPrefix(pointer, "/localityAwareness/") {
				unmarked = nil // it depends on the zone and the tags of the dataplane
			}
			for _, d := range unmarked {
				if !affected[d] {
					t.Errorf("%s %s%s has no effect on %s, and inspect does not mark it", name, at.name(), pointer, d)
				}
			}
		}
	}
}

// checkMarks removes each field that is marked wherever inspect shows it of a dataplane: the
// dataplane must get the same without it.
func (w *fieldWorld) checkMarks(t *testing.T, before outcome) {
	without := map[string]outcome{}
	for i, policy := range w.policies {
		policy := policy.(map[string]any)
		spec, ok := policy["spec"].(map[string]any)
		if !ok {
			continue // no policy
		}
		for _, at := range confsOf(spec) {
			for d, marks := range before.marks {
				for _, mark := range marks {
					if mark.Policy.Name != policy["name"] || mark.Policy.Kind != policy["type"] || !before.marked(d, fmt.Sprint(policy["name"], " ", at.item()), mark.Field) {
						continue
					}
					key := fmt.Sprint(i, " ", at.name(), mark.Field)
					out, known := without[key]
					if !known {
						policies := slices.Clone(w.policies)
						policies[i] = clone(policies[i])
						if remove(policies[i].(map[string]any)["spec"], slices.Concat(at.path, strings.Split(mark.Field, "/")[1:])) {
							out, _ = w.build(policies) // the field may be required: then there is no text
						}
						without[key] = out
					}
					if text, valid := out.text[d]; valid && text != before.text[d] {
						t.Errorf("%s %s%s is marked, and %s does not get the same without it: %s", policy["name"], at.name(), mark.Field, d, mark.Reason)
					}
				}
			}
		}
	}
}

// marked reports whether inspect shows a field of an item for a dataplane, always with a mark.
func (o *outcome) marked(dataplane, item, pointer string) bool {
	found := false
	for key, n := range o.shown {
		field, of := strings.CutPrefix(key, dataplane+" "+item+" ")
		if of && (field == pointer || strings.HasPrefix(field, pointer+"/") || strings.HasPrefix(pointer, field+"/")) {
			if n.unmarked > 0 {
				return false
			}
			found = true
		}
	}
	return found
}

// unmarked returns the dataplanes where inspect shows a field of an item without a mark at one
// place. It shows a list as one field.
func (o *outcome) unmarked(item, pointer string) (dataplanes []string) {
	for _, d := range slices.Sorted(maps.Keys(o.text)) {
		for key, n := range o.shown {
			field, of := strings.CutPrefix(key, d+" "+item+" ")
			if of && n.unmarked > 0 && (field == pointer || strings.HasPrefix(pointer, field+"/")) {
				dataplanes = append(dataplanes, d)
				break
			}
		}
	}
	return dataplanes
}

// changed reports whether another value of a field is valid, and which dataplanes get
// another snapshot by one. It tries values until all expected dataplanes do, and one at
// least. If the field is valid with its value only, it is removed with what contains it.
func (w *fieldWorld) changed(before outcome, index int, path, pointer []string, expected []string) (valid bool, affected map[string]bool) {
	affected = map[string]bool{}
	try := func(change func(tree any, path []string) bool, path []string) {
		policies := slices.Clone(w.policies)
		policies[index] = clone(policies[index])
		if !change(policies[index].(map[string]any)["spec"], path) {
			return
		}
		if out, err := w.build(policies); err == nil {
			valid = true
			w.effects.add("/"+strings.Join(pointer, "/"), before, out)
			for d, text := range out.text {
				if text != before.text[d] {
					affected[d] = true
				}
			}
		}
	}
	for _, change := range changes {
		try(change, path)
		if len(affected) > 0 && !slices.ContainsFunc(expected, func(d string) bool { return !affected[d] }) {
			return valid, affected
		}
	}
	for n := len(path) - 1; n > 1 && !valid; n-- {
		try(remove, path[:n])
	}
	return valid, affected
}

// changes give a field another value. They report whether they apply to it.
var changes = []func(tree any, path []string) bool{
	remove,
	func(tree any, path []string) bool {
		return edit(tree, path, func(v any) (any, bool) {
			switch v := v.(type) {
			case bool:
				return !v, true
			case float64:
				return v + 1, true
			case string:
				if n, err := strconv.ParseFloat(v, 64); err == nil {
					return fmt.Sprint(n + 1), true
				}
				if strings.HasSuffix(v, "s") {
					return "77" + v, true
				}
				return v + "a", true
			}
			return nil, false
		})
	},
	func(tree any, path []string) bool {
		return edit(tree, path, func(v any) (any, bool) { s, ok := v.(string); return s + "/a", ok })
	},
	func(tree any, path []string) bool {
		return edit(tree, path, func(v any) (any, bool) { s, _ := v.(string); return nextDigit(s) })
	},
	words("Seconds", "UnixTimestamp"), words("https", "http"), words("HttpMethodPost"), words("All"), words("Basic"),
	words("Internal"), words("XXHash"), words("GET", "POST"), words("tls"), words("http2"), words("Disabled"), words("Deny"), words("add"),
	words("TLS13"), words("OmitPreviousHosts"), words("MeshService"), words("192.0.2.7"), words("198.51.100.0/24"),
	words("ECDHE-ECDSA-AES256-GCM-SHA384"), words("127.0.0.1:7000"), words("YQ=="), words("http://127.0.0.1:1"), words("AddAfter"), words("AddFirst"),
	words("Patch"), words("Remove"), words("Strict"), words("5 Mbps"), words("spiffe://other/x"), words("other.example"), words("other"),
}

// nextDigit returns a text with another first digit.
func nextDigit(s string) (string, bool) {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return s, false
	}
	return s[:i] + string('0'+(s[i]-'0'+1)%10) + s[i+1:], true
}

// words returns a change that sets a text.
func words(values ...string) func(any, []string) bool {
	return func(tree any, path []string) bool {
		return edit(tree, path, func(v any) (any, bool) {
			s, ok := v.(string)
			for _, value := range values {
				if value != s {
					return value, ok
				}
			}
			return nil, false
		})
	}
}

// edit replaces the value at a path.
func edit(tree any, path []string, change func(any) (any, bool)) bool {
	if len(path) > 1 {
		return edit(child(tree, path[0]), path[1:], change)
	}
	value, ok := change(child(tree, path[0]))
	switch tree := tree.(type) {
	case map[string]any:
		tree[path[0]] = value
	case []any:
		i, _ := strconv.Atoi(path[0])
		tree[i] = value
	}
	return ok
}

// remove removes the value at a path from the object or the list that it is in. A list
// that would become empty stays as it is.
func remove(tree any, path []string) bool {
	if len(path) > 2 {
		return remove(child(tree, path[0]), path[1:])
	}
	if len(path) == 1 {
		object, ok := tree.(map[string]any)
		delete(object, path[0])
		return ok
	}
	switch inner := child(tree, path[0]).(type) {
	case map[string]any:
		delete(inner, path[1])
		return true
	case []any:
		i, _ := strconv.Atoi(path[1])
		if outer, ok := tree.(map[string]any); ok && len(inner) > 1 {
			outer[path[0]] = slices.Delete(inner, i, i+1)
			return true
		}
	}
	return false
}

func child(tree any, key string) any {
	switch tree := tree.(type) {
	case map[string]any:
		return tree[key]
	case []any:
		i, _ := strconv.Atoi(key)
		return tree[i]
	}
	return nil
}

// place is a conf of a policy.
type place struct {
	path []string // below spec
	conf any
}

func (p place) name() string { return strings.Join(p.path, ".") }

// item returns the place as inspect prints it, such as to[0].
func (p place) item() string {
	if len(p.path) == 1 {
		return p.path[0]
	}
	return p.path[0] + "[" + p.path[1] + "]"
}

// confsOf returns the confs of a policy.
func confsOf(spec map[string]any) (places []place) {
	if conf, ok := spec["default"]; ok {
		places = append(places, place{[]string{"default"}, conf})
	}
	for _, array := range []string{"to", "from", "rules"} {
		items, _ := spec[array].([]any)
		for i, item := range items {
			path := []string{array, strconv.Itoa(i)}
			if conf, ok := item.(map[string]any)["default"]; ok {
				places = append(places, place{append(path, "default"), conf})
			} else { // a route: its conf is in the item itself
				conf := clone(item).(map[string]any)
				delete(conf, "targetRef")
				places = append(places, place{path, conf})
			}
		}
	}
	return places
}

// leaves returns the paths of the scalars in a tree, and of empty objects.
func leaves(tree any) (paths [][]string) {
	add := func(key string, below any) {
		for _, path := range leaves(below) {
			paths = append(paths, append([]string{key}, path...))
		}
	}
	switch tree := tree.(type) {
	case map[string]any:
		for key, value := range tree {
			add(key, value)
		}
	case []any:
		for i, value := range tree {
			add(strconv.Itoa(i), value)
		}
	default:
		return [][]string{nil}
	}
	slices.SortFunc(paths, slices.Compare)
	return paths
}

func clone(tree any) any {
	data, _ := json.Marshal(tree)
	var out any
	_ = json.Unmarshal(data, &out)
	return out
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(envoyPackages(t), "translators/testdata/fields", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// documents returns the documents of a file as trees of JSON.
func documents(t *testing.T, name string) (trees []any) {
	t.Helper()
	for _, tree := range kindtest.Documents(t, readFile(t, name)) {
		trees = append(trees, clone(tree))
	}
	return trees
}
