package kindtest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Accepted loads documents, one policy each in the universal format with mesh and
// targetRefs written out. It checks that
//   - each policy is marshalled as the JSON of its document, in any order of
//     fields;
//   - together they use every array of the kind and set every field of its
//     Confs, so that a test that omits a field fails.
func Accepted(t *testing.T, kind *resource.Kind, documents ...string) {
	t.Helper()
	var used fields
	sections := map[string]bool{}
	for _, document := range documents {
		set, err := decode(kind, document)
		if err != nil {
			t.Errorf("%v\n%s", err, document)
			continue
		}
		policy := set.Policies[0]
		roundTrip(t, policy, document)
		for _, item := range policy.To {
			sections["to"] = true
			used.add(item.Conf)
		}
		for _, item := range policy.From {
			sections["from"] = true
			used.add(item.Conf)
		}
		for _, rule := range policy.Rules {
			sections["rules"] = true
			used.add(rule.Conf)
		}
		if policy.Default != nil {
			sections["default"] = true
			used.add(policy.Default)
		}
	}
	for name, section := range map[string]*resource.Section{"to": kind.To, "from": kind.From, "rules": kind.Rules, "default": kind.Default} {
		if section != nil && !sections[name] {
			t.Errorf("no document uses %s", name)
		}
	}
	for _, field := range used.missing() {
		t.Errorf("no document sets %s", field)
	}
}

// roundTrip checks that a policy is marshalled in its written form. The compared texts
// are made in different ways: one by decoding and marshalling the policy, the other by a
// plain YAML reader.
func roundTrip(t *testing.T, policy *resource.Policy, document string) {
	t.Helper()
	printed, err := json.Marshal(policy)
	if err != nil {
		t.Errorf("%s: %v", policy.Name, err)
		return
	}
	var plain, got, want any
	if err := yaml.Unmarshal([]byte(document), &plain); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct {
		data []byte
		to   *any
	}{{printed, &got}, {written, &want}} {
		if err := json.Unmarshal(side.data, side.to); err != nil {
			t.Fatalf("%s: %v\n%s", policy.Name, err, side.data)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the marshalled %s differs from its document (-written +marshalled):\n%s", policy.Name, diff)
	}
}

// fields maps the fields of all struct types in the documents to whether any value has
// them set.
type fields struct {
	set   map[string]bool
	order []string
}

func (f *fields) add(conf resource.Conf) {
	if f.set == nil {
		f.set = map[string]bool{}
	}
	v := reflect.ValueOf(conf)
	f.declare(v.Type())
	f.walk(v)
}

// declare adds the fields of a type and of the types within it.
func (f *fields) declare(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		f.declare(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			name := fieldName(t, i)
			if _, known := f.set[name]; !known {
				f.set[name] = false
				f.order = append(f.order, name)
				f.declare(t.Field(i).Type)
			}
		}
	}
}

func (f *fields) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			f.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				f.set[fieldName(v.Type(), i)] = true
			}
			f.walk(v.Field(i))
		}
	}
}

func (f *fields) missing() []string {
	var names []string
	for _, name := range f.order {
		if !f.set[name] {
			names = append(names, name)
		}
	}
	return names
}

func fieldName(t reflect.Type, i int) string { return t.String() + "." + t.Field(i).Name }
