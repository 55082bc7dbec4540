package emit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/meshmatch/meshmatch/gen"
)

// Code that was generated before a field was added, removed or changed does not compile.
func TestChangedFieldsDoNotCompile(t *testing.T) {
	const conf = `package conf

//confgen:conf
type Conf struct {
	Limit *int            "json:\"limit\""
	Inner *Inner          "json:\"inner\""
	Named map[string]Flat "json:\"named\""
	List  []Listed        "json:\"list\""
}

type Inner struct {
	Rate *int "json:\"rate\""
}

type Flat struct {
	Size *int "json:\"size\""
}

type Listed struct {
	Names []string "json:\"names\""
}
`
	// The package is in this module, because its code imports package merge.
	dir, err := filepath.Abs("changed")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string][]byte{}
	write := func(name, text string) { overlay[filepath.Join(dir, name)] = []byte(text) }
	errors := func() (list []packages.Error) {
		loaded, err := packages.Load(&packages.Config{Overlay: overlay, Mode: packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedName}, "./changed")
		if err != nil {
			t.Fatal(err)
		}
		packages.Visit(loaded, nil, func(p *packages.Package) { list = append(list, p.Errors...) })
		return list
	}
	write("conf.go", conf)
	files, err := gen.Generate(gen.Config{Overlay: overlay, Patterns: []string{"./changed"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Path, "_test.go") {
			write(filepath.Base(file.Path), string(file.Content))
		}
	}
	if found := errors(); len(found) > 0 {
		t.Fatal(found)
	}
	for _, change := range [][2]string{
		{"	Limit *int ", "	More *int \"json:\\\"more\\\"\"\n	Limit *int "},
		{"	Rate *int ", "	More *int \"json:\\\"more\\\"\"\n	Rate *int "},
		{"	Size *int ", "	More *int \"json:\\\"more\\\"\"\n	Size *int "},
		{"	Names []string ", "	More *int \"json:\\\"more\\\"\"\n	Names []string "},
		{"	Limit *int ", "	Limit *int64 "},
	} {
		changed := strings.Replace(conf, change[0], change[1], 1)
		if changed == conf {
			t.Fatalf("%q is not in the source", change[0])
		}
		write("conf.go", changed)
		if len(errors()) == 0 {
			t.Errorf("it compiles with %q", change[1])
		}
	}
}
