package cli

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The pages with the examples of README.md, by reader.
const (
	authorsPage   = "core/AUTHORS.md"
	operatorsPage = "core/OPERATORS.md"
)

// TestReadme runs the commands of README.md and of the pages by reader. In a block of type console they must print what
// the page shows, and UPDATE=1 writes it; in a block of type sh they must print something.
// Targets of make must be in `make help-all`. Other tests run the rest: TestReadmeServes and
// TestReadmeRelays the commands that need a server, TestReadmeReplicas those that need an etcd,
// `make examples` the program, and a test of core/app/internal/e2e/demo the commands of make demo.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures a mesh, among other commands")
	}
	t.Chdir("../../../..")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, file := range []string{"README.md", authorsPage, operatorsPage} {
		page := readMarkdown(t, file)
		commands += runCommands(t, page)
		for _, m := range regexp.MustCompile("(?m)(?:^|`)make\\s([a-z0-9-]+)").FindAllStringSubmatch(page.String(), -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:.*##[+]? `).Match(makefile) {
				t.Errorf("%s: `make help-all` does not list make %s", file, m[1])
			}
		}
		page.save(t, file)
	}
	if commands < 10 {
		t.Errorf("found only %d commands", commands)
	}
}

// runCommands runs the commands of a page, and returns how many there are.
func runCommands(t *testing.T, page *markdown) int {
	t.Helper()
	commands := 0
	for _, c := range page.commands() {
		args, ok := strings.CutPrefix(c.line, "go run ./cmd/meshmatch ")
		if !ok {
			if !regexp.MustCompile(`^(make|bin/meshmatch|curl|envoy|etcd) |^go run \.$`).MatchString(c.line) {
				t.Errorf("%s: no test runs this", c.line)
			}
			continue
		}
		commands++
		var stdout, stderr bytes.Buffer
		if code := new(Program).run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr); code == exitUsage {
			t.Errorf("%s: %s", c.line, stderr.String())
		}
		if c.block.kind == "console" {
			c.checkOutput(t, stdout.String())
		} else if stdout.Len() == 0 {
			t.Errorf("%s: nothing is printed", c.line)
		}
	}
	return commands
}

// TestLinks checks that the files to which the pages link exist.
func TestLinks(t *testing.T) {
	const repository = "../../../../"
	for page, dir := range map[string]string{"README.md": "", authorsPage: "core/", operatorsPage: "core/", "core/ARCHITECTURE.md": "core/", "core/GUIDE.md": "core/", "core/KUMA.md": "core/", "core/STYLE.md": "core/", "core/app/README.md": "core/app/"} {
		for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(readMarkdown(t, repository+page).prose(), -1) {
			if _, err := os.Stat(repository + dir + m[1]); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}
