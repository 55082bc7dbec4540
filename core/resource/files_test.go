package resource_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// tree makes a directory with files, links ("-> target") and FIFOs ("|"). A
// target that begins with $ is relative to the directory of the test.
func tree(t *testing.T, entries map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	for name, content := range entries {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			target, isLink := strings.CutPrefix(content, "-> ")
			switch {
			case isLink:
				err = os.Symlink(strings.Replace(target, "$", dir, 1), path)
			case content == "|":
				err = syscall.Mkfifo(path, 0o644)
			default:
				err = os.WriteFile(path, []byte(content), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loadIn loads args in dir, and returns the meshes or the errors, without the
// name of dir.
func loadIn(t *testing.T, loader resource.Loader, dir string, args ...string) string {
	t.Helper()
	loader.Kinds = kinds.All()
	for i := range args {
		args[i] = filepath.Join(dir, args[i])
	}
	set, err := loader.Load(t.Context(), args...)
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir+"/", "")
	}
	return strings.Join(meshNames(set), " ")
}

func TestRegularFilesOnly(t *testing.T) {
	const mesh = "type: Mesh\nname: "
	for name, c := range map[string]struct {
		entries map[string]string
		args    []string
		want    string
	}{
		"a FIFO in a tree":             {map[string]string{"t/a.yaml": mesh + "a", "t/f.yaml": "|"}, []string{"t"}, "t/f.yaml: is not a regular file; remove it"},
		"another FIFO in a tree":       {map[string]string{"t/a.yaml": mesh + "a", "t/f": "|", "t/.g.yaml": "|"}, []string{"t"}, "a"},
		"a FIFO":                       {map[string]string{"f.yaml": "|"}, []string{"f.yaml"}, "f.yaml: is not a regular file; give a file, a directory or -"},
		"a device":                     {nil, []string{"../../../../../../../../dev/zero"}, "/dev/zero: is not a regular file; give a file, a directory or -"},
		"a link to a FIFO":             {map[string]string{"t/a.yaml": "-> f", "t/f": "|"}, []string{"t"}, "t/a.yaml: is not a regular file; remove it"},
		"a link given":                 {map[string]string{"t/a.yaml": mesh + "a", "l": "-> t/a.yaml"}, []string{"l"}, "a"},
		"a link to a directory given":  {map[string]string{"t/a.yaml": mesh + "a", "l": "-> t"}, []string{"l"}, "a"},
		"a link in the tree":           {map[string]string{"t/s/l.yaml": "-> ../x/a", "t/x/a": mesh + "a"}, []string{"t"}, "a"},
		"an absolute link in the tree": {map[string]string{"t/l.yaml": "-> $/t/x/a", "t/x/a": mesh + "a"}, []string{"t"}, "a"},
		"a mounted config map":         {map[string]string{"t/a.yaml": "-> ..data/a.yaml", "t/..data": "-> ..1", "t/..1/a.yaml": mesh + "a"}, []string{"t"}, "a"},
		"a link to a directory":        {map[string]string{"t/s/a.yaml": mesh + "a", "t/l.yaml": "-> s", "t/up.yaml": "-> ."}, []string{"t"}, "a"},
		"a link to a directory out":    {map[string]string{"t/a.yaml": mesh + "a", "t/team": "-> ../u", "u/b.yaml": mesh + "b"}, []string{"t"}, "t/team: is a link to a directory whose files are not read; remove it, or give the directory itself"},
		"a link to a hidden directory": {map[string]string{"t/a.yaml": mesh + "a", "t/team": "-> ..data/team", "t/..data/team/b.yaml": mesh + "b"}, []string{"t"}, "t/team: is a link to a directory whose files are not read; remove it, or give the directory itself"},
		"a link to another file out":   {map[string]string{"t/a.yaml": mesh + "a", "t/README": "-> ../readme", "readme": "x"}, []string{"t"}, "a"},
		"a link out of the tree":       {map[string]string{"t/a.yaml": mesh + "a", "t/l.yaml": "-> ../secret", "secret": "password: 1"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"an absolute link out":         {map[string]string{"t/l.yaml": "-> /etc/passwd"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"a link over a link":           {map[string]string{"t/l.yaml": "-> m", "t/m": "-> ../secret", "secret": "password: 1"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"a link to nothing":            {map[string]string{"t/l.yaml": "-> nothing"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"a link to itself":             {map[string]string{"t/l.yaml": "-> l.yaml"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"a sibling with the same name": {map[string]string{"t/l.yaml": "-> ../t2/a.yaml", "t2/a.yaml": mesh + "a"}, []string{"t"}, "t/l.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
		"an odd name":                  {map[string]string{"t/a\n\x1b.yaml": "-> x"}, []string{"t"}, `t/a\n\x1b.yaml: is a link that leads to no file below t; remove it, or give the file itself`},
		"each error":                   {map[string]string{"t/b.yaml": "type: Mash", "t/c.yaml": "|", "t/d.yaml": "-> /dev/null"}, []string{"nowhere", "t"}, "nowhere: cannot be read: no such file or directory; give a file, a directory or -\nt/b.yaml:1:1: name: required field is missing\nt/b.yaml:1:7: type: unknown kind \"Mash\"; did you mean \"Mesh\"?\nt/c.yaml: is not a regular file; remove it\nt/d.yaml: is a link that leads to no file below t; remove it, or give the file itself"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.entries)
			if diff := cmp.Diff(c.want, strings.ReplaceAll(loadIn(t, resource.Loader{}, dir, c.args...), "below "+dir+"/", "below ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The files of a Helm chart are no resources: the chart is one error, and not one for each
// template and value.
func TestHelmChartIsOneError(t *testing.T) {
	const mesh, template = "type: Mesh\nname: ", "{{- if .Values.a }}\ntype: Mesh\n{{ end }}"
	chart := func(dir string) map[string]string {
		return map[string]string{"a.yaml": mesh + "a", dir + "/Chart.yaml": "apiVersion: v2\nname: c", dir + "/values.yaml": "a: 1\n---\nb: 2", dir + "/templates/b.yaml": template}
	}
	const hint = " is a Helm chart: its templates are no resources; give its output: helm template "
	for name, c := range map[string]struct {
		entries map[string]string
		arg     string
		want    string
	}{
		"below a directory":       {chart("x/y"), ".", "x/y:" + hint + "x/y | meshmatch ... -f -; or exclude it"},
		"given":                   {chart("x"), "x", "x:" + hint + "x | meshmatch ... -f -; or exclude it"},
		"a chart without values":  {map[string]string{"x/Chart.yml": "", "x/Chart.yaml": "name: c", "x/charts/y/Chart.yaml": "name: d"}, "x", "x:" + hint + "x | meshmatch ... -f -; or exclude it"},
		"a file of the same name": {map[string]string{"x/Chart.yaml": mesh + "a"}, "x", "a"},
		"no chart":                {map[string]string{"x/templates/a.yaml": mesh + "a", "x/charts/b.yaml": mesh + "b"}, "x", "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.entries)
			if diff := cmp.Diff(c.want, loadIn(t, resource.Loader{}, dir, c.arg)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The file of kustomize is a warning, with or without a kind, because the other files of its
// directory are read without its changes. Files of patches could not be read.
func TestKustomizationIsNotApplied(t *testing.T) {
	const want = "k/kustomization.yaml:1:1: the kustomization is not applied: the files of the directory are read as they are; give its output: kubectl kustomize k | meshmatch ... -f -; or exclude it"
	for name, c := range map[string]struct{ text, want string }{
		"without a kind":   {"resources: [a.yaml]", want},
		"with a kind":      {"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]", want},
		"a component":      {"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component", want},
		"patches":          {"resources: [a.yaml]\npatches: [{path: b.yaml}]", "k/kustomization.yaml:2:10: patches: the directory is an input of kustomize: patches are no resources; give its output: kubectl kustomize k | meshmatch ... -f -; or exclude it"},
		"another system's": {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"k/kustomization.yaml": c.text, "k/a.yaml": "type: Mesh\nname: a"})
			t.Chdir(dir)
			loader := resource.Loader{Kinds: kinds.All()}
			set, err := loader.Load(t.Context(), "k")
			if err != nil {
				set = &resource.Set{Warnings: err.(diag.Errors)}
			} else if meshNames(set)[0] != "a" {
				t.Errorf("got the meshes %v", meshNames(set))
			}
			got := ""
			for _, w := range set.Warnings {
				got += w.Error()
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSocketIsNotRead(t *testing.T) {
	dir := tree(t, map[string]string{"a": ""})
	listener, err := net.Listen("unix", filepath.Join(dir, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if got, want := loadIn(t, resource.Loader{}, dir, "."), "s.yaml: is not a regular file; remove it"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Limits apply to each file and to all files together. A file past a limit is
// one line of error, and the others are still read.
func TestLimits(t *testing.T) {
	entries := map[string]string{"a.yaml": "type: Mesh\nname: a\n", "b.yaml": "type: Mesh\nname: b\n# comment\n", "c.yaml": "type: Mash\nname: c\n"}
	limits := strict.Limits{Bytes: 20, Depth: 10, Nodes: 100}
	for name, c := range map[string]struct {
		loader resource.Loader
		args   []string
		want   string
	}{
		"per file":        {resource.Loader{Limits: limits}, []string{"."}, "b.yaml: the file is larger than the limit of 20 bytes; split it\nc.yaml:1:7: type: unknown kind \"Mash\"; did you mean \"Mesh\"?"},
		"as large as":     {resource.Loader{Limits: limits}, []string{"a.yaml"}, "a"},
		"all files":       {resource.Loader{MaxBytes: 45}, []string{"."}, "b.yaml: the files up to this one are larger than the limit of 45 bytes; give fewer files"},
		"as large as all": {resource.Loader{MaxBytes: 50}, []string{"a.yaml", "b.yaml"}, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := loadIn(t, c.loader, tree(t, entries), c.args...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	stdin := resource.Loader{Kinds: kinds.All(), Limits: limits, Stdin: strings.NewReader("type: Mesh\nname: a\n##")}
	if _, err := stdin.Load(t.Context(), resource.Stdin); err == nil || err.Error() != "<stdin>: the file is larger than the limit of 20 bytes; split it" {
		t.Errorf("got %v", err)
	}
	stored := resource.Input{Name: "key", Data: []byte("type: Mesh\nname: a\n##")}
	if _, err := stdin.Decode(t.Context(), stored); err == nil || err.Error() != "key: the file is larger than the limit of 20 bytes; split it" {
		t.Errorf("got %v", err)
	}
	none := resource.Loader{Kinds: kinds.All()}
	if _, err := none.Load(t.Context(), resource.Stdin); err == nil || err.Error() != "<stdin>: cannot be read: there is no standard input" {
		t.Errorf("got %v", err)
	}
}
