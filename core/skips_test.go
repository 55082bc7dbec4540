package core_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// servers are the environment variables that name a server or a tool for tests.
var servers = []string{"AXE", "ENVOY", "ENVOY_OTHER", "ETCD", "GRPCIO", "KUBERNETES", "Z3"}

// otherSkips are the functions that skip a test for another reason than a server or -short.
var otherSkips = map[string]string{
	"core/app/internal/replicas.soak":                    "it measures: SOAK=1 make e2e-stores",
	"core/app/internal/serve.BenchmarkStreamConnections": "it reads /proc, which Linux has",
	"bench/gate.newRepository":                           "CI installs git",
	"bench/gate.scripts":                                 "CI does not run on Windows",
	"core/app/internal/serve.TestFleetProcess":           "it is the process of a benchmark",
	"core/app/internal/serve.TestAttackProcess":          "it is the process of a benchmark",
	"core/app/internal/relay.TestPart":                   "it is the process of a benchmark",
	"core/app/internal/source/sourcetest.testAtOnce":     "one of the sources writes at once",
	"core/app/internal/source/sourcetest.testLost":       "two of the sources can be lost",
	"core/app/internal/source/sourcetest.testPermission": "one of the sources keeps what can be read",
	"core/app/internal/source/sourcetest.testRelist":     "two of the sources keep changes",
}

// TestSkips requires that no skip hides a test. A test that needs a server is run, with the
// variables that it needs, by a target of make that CI runs. A test that is skipped with
// -short is run whole by make test. Any other skip has its reason in otherSkips.
func TestSkips(t *testing.T) {
	functions := testFunctions(t)
	commands := ciCommands(t)
	tests := 0
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name]
		if reason := otherSkips[name]; f.skips != "" && len(f.needs) == 0 && reason == "" {
			t.Errorf("%s: %s skips a test; give the reason in otherSkips", f.skips, name)
		}
		if !f.isTest {
			continue
		}
		need := functions.needs(name)
		if len(need) == 0 {
			continue
		}
		tests++
		own, test := splitName(name)
		if !slices.ContainsFunc(commands, func(c command) bool { return c.runs(own, test, need) }) {
			t.Errorf("no target of make that CI runs sets %s and runs %s of %s", strings.Join(need, ", "), test, own)
		}
	}
	if tests < 50 {
		t.Errorf("only %d tests need a server", tests)
	}
	for name := range otherSkips {
		if f := functions[name]; f == nil || f.skips == "" {
			t.Errorf("%s of otherSkips skips no test", name)
		}
	}
	for name, text := range sources(t, ".txtar") {
		for _, m := range regexp.MustCompile(`(?m)^\[!(\w+)\] skip`).FindAllStringSubmatch(text, -1) {
			own, script := path.Dir(path.Dir(path.Dir(strings.TrimPrefix(name, "../")))), strings.TrimSuffix(path.Base(name), ".txtar")
			need := []string{strings.ToUpper(m[1])}
			if !slices.ContainsFunc(commands, func(c command) bool { return c.runs(own, "TestScripts/"+script, need) }) {
				t.Errorf("no target of make that CI runs sets %s and runs the script %s of %s", need, script, own)
			}
		}
	}
}

// A testFunction is a function of tests, or of a package that they use.
type testFunction struct {
	isTest bool
	skips  string          // where it skips a test, not by -short; "": nowhere
	needs  []string        // the servers that it reads from the environment itself
	uses   map[string]bool // the names of functions
}

// functionSet has functions by package and name, such as "core/app/internal/crd.TestCluster". Methods of
// one name are one function.
type functionSet map[string]*testFunction

// needs returns the servers that a function needs, directly or by what it uses.
func (s functionSet) needs(name string) []string {
	seen, need := map[string]bool{}, map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		f := s[name]
		if f == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, server := range f.needs {
			need[server] = true
		}
		for used := range f.uses {
			visit(used)
		}
	}
	visit(name)
	return slices.Sorted(maps.Keys(need))
}

func splitName(name string) (own, function string) {
	dot := strings.LastIndex(name, ".")
	return name[:dot], name[dot+1:]
}

// testFunctions reads the functions of tests, and those of the packages for tests, whose
// names end with "test" or which import package testing.
func testFunctions(t *testing.T) functionSet {
	t.Helper()
	functions := functionSet{}
	for name, text := range sources(t, ".go") {
		name = strings.TrimPrefix(name, "../")
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		imports := map[string]string{} // by the name in the file
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			imports[local] = strings.TrimPrefix(imported, module)
		}
		if imports["testing"] != "testing" && !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, declaration := range file.Decls {
			var names []string
			isTest := false
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names = []string{d.Name.Name}
				isTest = strings.HasSuffix(name, "_test.go") && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") && d.Name.Name != "TestMain"
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, n := range v.Names {
							names = append(names, n.Name)
						}
					}
				}
			}
			for _, declared := range names {
				key := path.Dir(name) + "." + declared
				f := functions[key]
				if f == nil {
					f = &testFunction{uses: map[string]bool{}}
					functions[key] = f
				}
				f.isTest = f.isTest || isTest
				f.read(declaration, path.Dir(name), imports, files, strings.HasPrefix(declared, "Fuzz"))
			}
		}
	}
	return functions
}

// read adds what a declaration does.
func (f *testFunction) read(declaration ast.Node, own string, imports map[string]string, files *token.FileSet, fuzzes bool) {
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if c, ok := n.Cond.(*ast.CallExpr); ok && calls(c, "testing", "Short") {
				if n.Else != nil {
					f.read(n.Else, own, imports, files, fuzzes)
				}
				return false
			}
		case *ast.CallExpr:
			if calls(n, "os", "Getenv") && len(n.Args) == 1 {
				if variable, ok := n.Args[0].(*ast.BasicLit); ok {
					if name, err := strconv.Unquote(variable.Value); err == nil && slices.Contains(servers, name) {
						f.needs = append(f.needs, name)
					}
				}
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) && !fuzzes {
				f.skips = cmp.Or(f.skips, files.Position(n.Pos()).String())
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				f.uses[imports[x.Name]+"."+n.Sel.Name] = true
			}
			f.uses[own+"."+n.Sel.Name] = true
		case *ast.Ident:
			f.uses[own+"."+n.Name] = true
		}
		return true
	})
}

// calls reports whether a call is of a function of a package.
func calls(c *ast.CallExpr, pkg, function string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != function {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// A command is a line of a target of make that runs tests.
type command struct {
	variables map[string]bool // that are set
	packages  []string        // with "/..." at the end: and those below
	run       [][]*regexp.Regexp
}

// runs reports whether a command runs a test, such as TestA or TestA/b, with variables.
func (c *command) runs(own, test string, variables []string) bool {
	for _, v := range variables {
		if !c.variables[v] {
			return false
		}
	}
	if !slices.ContainsFunc(c.packages, func(p string) bool {
		below, all := strings.CutSuffix(p, "/...")
		return p == own || all && (own == below || strings.HasPrefix(own, below+"/"))
	}) {
		return false
	}
	names := strings.Split(test, "/")
	return len(c.run) == 0 || slices.ContainsFunc(c.run, func(elements []*regexp.Regexp) bool {
		for i, element := range elements {
			if i < len(names) && !element.MatchString(names[i]) {
				return false
			}
		}
		return true
	})
}

// ciCommands returns the commands with tests of the targets that CI runs, also of those for which a slow machine has no
// time: make nightly has these too.
func ciCommands(t *testing.T) []command {
	t.Helper()
	script, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	packaging := regexp.MustCompile(`(?m)^PACKAGING\s*:= (\S+)$`).FindStringSubmatch(string(makefile))
	if packaging == nil {
		t.Fatal("the Makefile has no PACKAGING")
	}
	var commands []command
	var targets []string
	for _, step := range regexp.MustCompile(`(?m)^(?:step|late \d+)(?: \w+)? make( .*)$`).FindAllStringSubmatch(string(script), -1) {
		for _, word := range strings.Fields(step[1]) {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				targets = append(targets, word)
			}
		}
	}
	for _, target := range targets {
		rule := regexp.MustCompile(`(?m)^` + target + `:.*##.*\n((?:\t.*\n)*)`).FindStringSubmatch(string(makefile))
		if rule == nil {
			t.Fatalf("CI runs make %s, which the Makefile does not have", target)
		}
		for line := range strings.Lines(strings.ReplaceAll(rule[1], "$(PACKAGING)", packaging[1])) {
			if strings.Contains(line, "$(GO) test ") {
				commands = append(commands, parseCommand(line))
			}
		}
	}
	return commands
}

func parseCommand(line string) command {
	c := command{variables: map[string]bool{}}
	dir := ""
	words := strings.Fields(line)
	for i, word := range words {
		variable, _, isVariable := strings.Cut(word, "=")
		switch {
		case i > 0 && words[i-1] == "cd":
			dir = word + "/"
		case i > 0 && words[i-1] == "-run":
			for pattern := range strings.SplitSeq(strings.Trim(strings.ReplaceAll(word, "$$", "$"), "'"), "|") {
				var elements []*regexp.Regexp
				for element := range strings.SplitSeq(pattern, "/") {
					elements = append(elements, regexp.MustCompile(element))
				}
				c.run = append(c.run, elements)
			}
		case strings.HasPrefix(word, "./"):
			c.packages = append(c.packages, dir+strings.TrimPrefix(word, "./"))
		case isVariable && !strings.HasPrefix(word, "-"):
			c.variables[variable] = true
		}
	}
	return c
}
