package core_test

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture requires a row of ARCHITECTURE.md for each package of the product: what the
// public packages and the commands import, directly or indirectly, except the commands
// themselves. A row has the names of packages in its first cell. They are below the directory
// in the first cell of the table.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := packageRows(string(page))
	graph, commands := importGraph(t), commandsOf(t)
	product := map[string]bool{}
	for from := range graph {
		internal := strings.Contains("/"+from+"/", "/internal/")
		if internal || strings.HasPrefix(from, "fuzz") { // fuzz imports helpers of tests
			continue
		}
		product[from] = true
		for reached := range reach(graph, from) {
			if graph[reached] != nil {
				product[reached] = true
			}
		}
	}
	for _, own := range slices.Sorted(maps.Keys(product)) {
		if !commands[own] && !rows[own] && !(rows["core/kind/KIND"] && path.Dir(own) == "core/kind") {
			t.Errorf("ARCHITECTURE.md has no row for %s: add its one job, and what it does not depend on", own)
		}
	}
	for row := range rows {
		if graph[row] == nil && row != "core/kind/KIND" {
			t.Errorf("ARCHITECTURE.md has a row for %s: there is no such package", row)
		}
	}
}

var (
	inCell      = regexp.MustCompile("`([^`]+)`")
	headOfTable = regexp.MustCompile("^package(?: below `([^`]+)`)?$")
)

// packageRows returns the packages in the tables of a page whose first head is "package".
func packageRows(page string) map[string]bool {
	rows := map[string]bool{}
	below, inTable := "", false
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		first := strings.TrimSpace(strings.Split(line, "|")[1])
		if head := headOfTable.FindStringSubmatch(first); head != nil {
			below, inTable = head[1], true
			continue
		}
		for _, name := range inCell.FindAllStringSubmatch(first, -1) {
			if inTable {
				rows[path.Join(below, name[1])] = true
			}
		}
	}
	return rows
}

// commandsOf returns the packages that are commands.
func commandsOf(t *testing.T) map[string]bool {
	t.Helper()
	commands := map[string]bool{}
	for name, text := range sources(t, ".go") {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "main" {
			commands[strings.TrimPrefix(path.Dir(name), "../")] = true
		}
	}
	return commands
}

// The rows of a page are found.
func TestPackageRows(t *testing.T) {
	page := "| axis | from |\n|---|---|\n| `no` | a |\n\n| package | job |\n|---|---|\n| `index`, `gen/merge` | `no` |\n\n" +
		"| package below `core/internal` | job |\n|---|---|\n| `mesh` | one mesh |\n"
	want := map[string]bool{"index": true, "gen/merge": true, "core/internal/mesh": true}
	if got := packageRows(page); !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
