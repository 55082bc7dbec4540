package build_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/build"
	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/ir"
	"github.com/meshmatch/meshmatch/gen/internal/load"
	"github.com/meshmatch/meshmatch/gen/internal/scenario"
)

// TestErrors builds packages with errors. All errors are reported together.
func TestErrors(t *testing.T) {
	var problems diag.List
	all := scenario.All(t)
	for _, pkg := range scenario.Load(t, all, &problems) {
		build.Package(pkg, &problems)
	}
	scenario.ExpectErrors(t, all, &problems)
}

const source = `package conf

//confgen:conf hash
type Conf struct {
	Max    *int              ` + "`json:\"max\"`" + `
	Mode   string            ` + "`json:\"mode,omitzero\" policyMerge:\"omitzero\"`" + `
	Inner  *Inner            ` + "`json:\"inner\"`" + `
	Again  Inner             ` + "`json:\"again\"`" + `
	Append []string          ` + "`json:\"append\"`" + `
	Keyed  []Keyed           ` + "`json:\"keyed\" policyMerge:\"mergeValuesByKey\"`" + `
	Union  *Union            ` + "`json:\"union\"`" + `
	Map    map[string]*Inner ` + "`json:\"map\"`" + `
}

//confgen:conf clone
type Scalars struct {
	On    bool    ` + "`json:\"on,omitzero\" policyMerge:\"omitzero\"`" + `
	Ratio float32 ` + "`json:\"ratio,omitzero\" policyMerge:\"omitzero\"`" + `
	Empty *Empty  ` + "`json:\"empty\"`" + `
	Inner Inner   ` + "`json:\"inner\"`" + `
}

type Inner struct {
	Num  uint8    ` + "`json:\"num,omitzero\" policyMerge:\"omitzero\"`" + `
	List []string ` + "`json:\"list\"`" + `
}

type Empty struct{}

type Keyed struct {
	Name string ` + "`json:\"name\" policyMerge:\"mergeKey\"`" + `
	Rate *Rate  ` + "`json:\"rate\"`" + `
}

type Rate struct {
	Num int ` + "`json:\"num\" policyMerge:\"replace\"`" + `
}

type Union struct {
	Type string ` + "`json:\"type\" policyMerge:\"discriminator\"`" + `
	Arm  *Inner ` + "`json:\"arm\"`" + `
}
`

// TestRules checks the IR of each shape of field.
func TestRules(t *testing.T) {
	pkg := buildSource(t, source)
	if len(pkg.Roots) != 2 || !pkg.Roots[0].Hash || pkg.Roots[0].Clone || pkg.Roots[1].Hash || !pkg.Roots[1].Clone {
		t.Fatalf("roots %+v", pkg.Roots)
	}
	conf, scalars := pkg.Roots[0].Struct, pkg.Roots[1].Struct
	rule := func(s *ir.Struct, name string) ir.Merging {
		for _, f := range s.Fields {
			if f.Name == name {
				return f.Rule
			}
		}
		t.Fatalf("no field %s", name)
		return nil
	}
	inner := rule(conf, "Inner").(ir.Nested)
	keyed := rule(conf, "Keyed").(ir.Keyed)
	checks := []struct {
		name string
		ok   bool
	}{
		{"a pointer is set if it is not nil", rule(conf, "Max").(ir.Replace).Set == ir.NotNil},
		{"zero is not set", rule(conf, "Mode").(ir.Replace).Set == ir.NotZero && rule(conf, "Mode").(ir.Replace).Zero == `""`},
		{"the zero of a bool", rule(scalars, "On").(ir.Replace).Zero == "false"},
		{"the zero of a number", rule(scalars, "Ratio").(ir.Replace).Zero == "0"},
		{"a pointer to a struct", inner.Pointer},
		{"a struct", !rule(conf, "Again").(ir.Nested).Pointer},
		{"a struct type has one IR", inner.Struct == rule(conf, "Again").(ir.Nested).Struct},
		{"a list named Append", rule(conf, "Append").(ir.Concat).Elem.Name == "string"},
		{"keys", len(keyed.Elem.Keys) == 1 && keyed.Elem.Keys[0] == "Name" && !keyed.Pointer},
		{"an always replacing scalar", rule(rule(keyed.Elem, "Rate").(ir.Nested).Struct, "Num").(ir.Replace).Set == ir.Always},
		{"a union", rule(conf, "Union").(ir.Nested).Struct.Union && !conf.Union},
		{"a map of structs", rule(conf, "Map").(ir.Map).Struct == inner.Struct},
		{"JSON names", conf.Fields[0].JSON == "max"},
		{"a conf that grows is never complete", conf.Leaves == ir.Endless},
		{"the leaves of a struct", inner.Struct.Leaves == 2},
		{"an empty struct has one leaf, its presence", scalars.Leaves == 2+1+2},
		{"a flat value", rule(keyed.Elem, "Rate").(ir.Nested).Struct.Value.Flat},
		{"a value with a list", !inner.Struct.Value.Flat},
	}
	for _, check := range checks {
		if !check.ok {
			t.Errorf("does not hold: %s", check.name)
		}
	}
}

func buildSource(t *testing.T, source string) *ir.Package {
	t.Helper()
	dir := t.TempDir()
	var problems diag.List
	packages, err := load.Load(load.Config{
		Dir: dir, Patterns: []string{"."},
		Overlay: map[string][]byte{dir + "/go.mod": []byte("module example.com/conf\n"), dir + "/conf.go": []byte(source)},
	}, &problems)
	if err != nil || len(packages) != 1 {
		t.Fatalf("%d packages, error %v", len(packages), err)
	}
	pkg := build.Package(packages[0], &problems)
	for _, d := range problems.Sorted() {
		t.Error(d)
	}
	return pkg
}
