package crd_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

var update = flag.Bool("update", false, "write testdata/only-validation.txt")

// A real API server accepts the definitions and, by their schemas, every valid document
// of the repository. It refuses what the tests of kinds show to be invalid, except the
// cases in testdata/only-validation.txt: OpenAPI cannot express them, and only the
// validation finds them.
func TestServer(t *testing.T) {
	cluster := kubetest.Start(t)
	cluster.Install(kinds.All())

	t.Run("valid documents", func(t *testing.T) {
		n := 0
		for at, document := range validDocuments(t) {
			o, err := kubetest.FromDocument(document)
			if err != nil {
				t.Fatal(err)
			}
			if n++; refusal(cluster, o) != "" {
				t.Errorf("%s: %s\n%s", at, refusal(cluster, o), document)
			}
		}
		if n < 300 {
			t.Errorf("only %d documents were tried", n)
		}
	})

	t.Run("wrong documents", func(t *testing.T) {
		for name, test := range map[string]struct{ document, want string }{
			"an unknown field":          {`{"type": "MeshTimeout", "spec": {"to": [{"default": {"idleTimout": "1s"}}]}}`, `unknown field "spec.to[0].default.idleTimout"`},
			"an unknown field of spec":  {`{"type": "MeshTimeout", "spec": {"too": []}}`, `unknown field "spec.too"`},
			"a wrong type":              {`{"type": "MeshTimeout", "spec": {"to": [{"default": {"idleTimeout": 1}}]}}`, `idleTimeout in body must be of type string`},
			"no items":                  {`{"type": "MeshTimeout", "spec": {"to": []}}`, `the policy has no items: it sets nothing`},
			"from and rules":            {`{"type": "MeshTimeout", "spec": {"from": [], "rules": []}}`, `from and rules are both present`},
			"a port of 0":               {`{"type": "Dataplane", "networking": {"address": "10.0.0.1", "inbound": [{"port": 0}]}}`, `should be greater than or equal to 1`},
			"a dataplane of nothing":    {`{"type": "Dataplane", "spec": {}}`, `spec.networking: Required value`},
			"a targetRef without kind":  {`{"type": "MeshTimeout", "spec": {"targetRef": {"name": "web"}, "to": [{"default": {"idleTimeout": "1s"}}]}}`, `spec.targetRef`},
			"a targetRef without name":  {`{"type": "MeshTimeout", "spec": {"targetRef": {"kind": "MeshService"}, "to": [{"default": {"idleTimeout": "1s"}}]}}`, `spec.targetRef`},
			"an unknown kind of target": {`{"type": "MeshTimeout", "spec": {"targetRef": {"kind": "Service", "name": "web"}, "to": [{"default": {"idleTimeout": "1s"}}]}}`, `Unsupported value: "Service"`},
			"an arm of another type":    {`{"type": "MeshAccessLog", "spec": {"to": [{"default": {"backends": [{"type": "Tcp", "file": {"path": "/a"}}]}}]}}`, `spec.to[0].default.backends[0]`},
			"an OCM action":             {`{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "metadata": {}, "spec": {"remediationAction": "enforced"}}`, `spec.remediationAction`},
		} {
			t.Run(name, func(t *testing.T) {
				o, err := kubetest.FromDocument([]byte(test.document))
				if err != nil {
					t.Fatal(err)
				}
				if got := refusal(cluster, o); !strings.Contains(got, test.want) {
					t.Errorf("got  %s\nwant %s", cmp.Or(got, "accepted"), test.want)
				}
			})
		}
	})

	t.Run("what the kinds reject", func(t *testing.T) {
		var accepted []string
		n := 0
		for name, document := range rejectedDocuments(t) {
			o, err := kubetest.FromDocument(document)
			if err != nil {
				continue // not even JSON
			}
			if n++; refusal(cluster, o) == "" {
				accepted = append(accepted, name+"\n")
			}
		}
		slices.Sort(accepted)
		const path = "testdata/only-validation.txt"
		got := strings.Join(accepted, "")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(want), got); diff != "" {
			t.Errorf("of %d documents, the schemas accept others than before (-want +got); refresh the list with -update:\n%s", n, diff)
		}
	})
}

// refusal returns why the API server refuses an object, or "". Only the schema is tried:
// the object has a name that every cluster accepts, and no labels.
func refusal(cluster *kubetest.Cluster, o kubetest.Object) string {
	metadata := map[string]any{"name": "tried"}
	if given, ok := o["metadata"].(map[string]any); ok && given["namespace"] != nil {
		metadata["namespace"] = "default"
	}
	o["metadata"] = metadata
	return cluster.Create(o, "dryRun=All")
}

// validDocuments returns the documents of the repository's test data, and those that the
// tests of kinds accept, by their positions: as far as people may write them, whatever the
// semantics is.
func validDocuments(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	all := map[string]json.RawMessage{}
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents(), KeepSources: true, As: diag.AsTargetRef}
	add := func(set *resource.Set) {
		for at, document := range set.Sources {
			if onKubernetes(document) && !inSnakeCase.Match(document) {
				all[at.String()] = document
			}
		}
	}
	for _, dir := range []string{"demo", "access", "proposal", "kuma2", "rollout", "seeds"} {
		_ = filepath.WalkDir("../../../../testdata/"+dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".yaml") {
				if set, err := loader.Load(t.Context(), path); err == nil {
					add(set)
				}
			}
			return nil
		})
	}
	for _, pattern := range []string{"../cli/testdata/script", "../../../*/testdata/*", "../../../*/*/testdata", "../../../*/*/testdata/*", "../../../../testdata/kuma-facts/*"} {
		scripts, err := filepath.Glob(pattern + "/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range scripts {
			script, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range script.Files {
				if set, err := loader.Decode(t.Context(), resource.Input{Name: path + "/" + file.Name, Data: file.Data}); err == nil && strings.HasSuffix(file.Name, ".yaml") {
					add(set)
				}
			}
		}
	}
	for at, text := range arguments(t, "Accepted") {
		set, err := loader.Decode(t.Context(), resource.Input{Name: at, Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		add(set)
	}
	return all
}

// inSnakeCase matches a field in the second spelling of protocol buffers, which a definition does
// not have (SPEC 1.2).
var inSnakeCase = regexp.MustCompile(`"(?:enabled_backend|skip_creating_initial_policies|service_port|transparent_proxying|redirect_port_\w+|advertised_\w+|status_code)":`)

// onKubernetes reports whether documents of the kind are objects of one of the
// definitions.
func onKubernetes(document json.RawMessage) bool {
	var head struct{ Type, Kind string }
	return json.Unmarshal(document, &head) == nil && !slices.Contains([]string{"Rollout", "Config", "ConfigMap", "Secret"}, head.Type+head.Kind)
}

// arguments returns the literal documents in calls of a function of package kindtest, by
// their positions.
func arguments(t *testing.T, function string) map[string]string {
	t.Helper()
	found := map[string]string{}
	eachCall(t, function, func(at string, call *ast.CallExpr) {
		for i, argument := range call.Args[2:] {
			if text, ok := literal(argument); ok {
				found[fmt.Sprintf("%s/%d", at, i)] = text
			}
		}
	})
	return found
}

// rejectedDocuments returns the documents of the cases of kindtest.Rejected, as JSON by
// kind and name.
func rejectedDocuments(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	byPackage := map[string]*resource.Kind{}
	for _, kind := range kinds.All().All() {
		byPackage[strings.ToLower(kind.Name)] = kind
	}
	all := map[string]json.RawMessage{}
	eachCall(t, "Rejected", func(at string, call *ast.CallExpr) {
		kind := byPackage[filepath.Base(filepath.Dir(at))]
		cases, ok := call.Args[2].(*ast.CompositeLit)
		if kind == nil || !ok {
			return
		}
		for _, element := range cases.Elts {
			entry := element.(*ast.KeyValueExpr)
			name, _ := literal(entry.Key)
			fields, ok := entry.Value.(*ast.CompositeLit)
			if !ok {
				continue
			}
			var c kindtest.Case
			for _, field := range fields.Elts {
				field := field.(*ast.KeyValueExpr)
				text, _ := literal(field.Value)
				switch field.Key.(*ast.Ident).Name {
				case "Conf":
					c.Conf = text
				case "In":
					c.In = text
				}
			}
			if document, err := toJSON(c.Document(kind)); err == nil && c.Conf != "" {
				all[kind.Name+": "+name] = document
			}
		}
	})
	return all
}

func eachCall(t *testing.T, function string, f func(at string, call *ast.CallExpr)) {
	t.Helper()
	files, err := filepath.Glob("../../../kind/*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests of kinds", err)
	}
	for _, name := range files {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && len(call.Args) > 2 {
				if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == function {
					f(fset.Position(call.Pos()).Filename, call)
				}
			}
			return true
		})
	}
}

// literal returns the value of a string literal, or of several that are joined.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, okLeft := literal(e.X)
		right, okRight := literal(e.Y)
		return left + right, okLeft && okRight
	}
	return "", false
}
