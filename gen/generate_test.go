package gen_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/gen"
)

const conf = `package conf

//confgen:conf
type Conf struct {
	Max *int ` + "`json:\"max\"`" + `
}
`

// module writes a module with the given files and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/mesh\n")
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// states generates for all packages of a module and returns the states of their
// files, as in "conf/zz_generated.conf.go missing".
func states(t *testing.T, dir string) ([]gen.File, []string) {
	t.Helper()
	files, err := gen.Generate(gen.Config{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, f := range files {
		name, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, filepath.ToSlash(name)+" "+f.State)
	}
	return files, states
}

const code, test = "conf/zz_generated.conf.go", "conf/zz_generated.conf_test.go"

func TestStates(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   []string
	}{
		{"nothing changed", func(*testing.T, string) {}, []string{code + " up to date", test + " up to date"}},
		{"a changed file", func(t *testing.T, dir string) { write(t, filepath.Join(dir, code), "<<<<<<< HEAD") },
			[]string{code + " stale", test + " up to date"}},
		{"a missing file", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, test)); err != nil {
				t.Fatal(err)
			}
		}, []string{code + " up to date", test + " missing"}},
		{"another conf", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "conf/conf.go"), strings.Replace(conf, "max", "most", 1))
		}, []string{code + " stale", test + " up to date"}},
		{"no root type", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "conf/conf.go"), "package conf\n") },
			[]string{code + " superfluous", test + " superfluous"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := module(t, map[string]string{"conf/conf.go": conf, "plain/plain.go": "package plain\n"})
			files, got := states(t, dir)
			if want := []string{code + " missing", test + " missing"}; !slices.Equal(got, want) {
				t.Fatalf("at first %v, want %v", got, want)
			}
			if err := gen.Write(files); err != nil {
				t.Fatal(err)
			}
			tt.change(t, dir)
			files, got = states(t, dir)
			if !slices.Equal(got, tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			if err := gen.Write(files); err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				content, err := os.ReadFile(f.Path)
				switch {
				case f.State == gen.Superfluous && !errors.Is(err, os.ErrNotExist):
					t.Errorf("%s is not removed: %v", f.Path, err)
				case f.State != gen.Superfluous && string(content) != string(f.Content):
					t.Errorf("%s is not written: %v", f.Path, err)
				}
			}
		})
	}
}

func TestWriteFails(t *testing.T) {
	missing := gen.File{Path: filepath.Join(t.TempDir(), "no", "such.go"), State: gen.Missing}
	if err := gen.Write([]gen.File{missing}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want an error that there is no directory", err)
	}
}

func TestErrors(t *testing.T) {
	const generated = "package conf\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []string // without the directory
	}{
		{"no root type", map[string]string{"plain.go": "package plain\n"},
			[]string{"no root type in the packages; put //confgen:conf into the doc comment of a struct"}},
		{"errors of two packages", map[string]string{
			"b/conf.go": strings.Replace(conf, "*int", "int", 1),
			"a/conf.go": strings.Replace(conf, "*int", "func()", 1),
			"c/conf.go": conf,
		}, []string{
			"a/conf.go:5:2: Conf.Max: a function cannot be merged; a conf is data only",
			`b/conf.go:5:2: Conf.Max: the type int has no value for not set; use a pointer, or tag it policyMerge:"omitzero" (zero is not set) or policyMerge:"replace" (always set)`,
		}},
		{"a hand-written file with a generated name", map[string]string{"plain.go": "package plain\n", "zz_generated.conf.go": generated},
			[]string{"zz_generated.conf.go:1:1: has the name of a generated file but was not generated; rename or remove it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := module(t, tt.files)
			t.Chdir(dir)
			files, err := gen.Generate(gen.Config{Patterns: []string{"./..."}})
			var all gen.Errors
			if !errors.As(err, &all) || files != nil {
				t.Fatalf("got %d files and the error %v", len(files), err)
			}
			if got, want := err.Error(), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	wd, err := os.Getwd() // without symbolic links
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(wd, "a", "b.go"):          filepath.Join("a", "b.go"),
		filepath.Join(filepath.Dir(wd), "b.go"): filepath.Join(filepath.Dir(wd), "b.go"),
	} {
		if got := gen.Relative(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
