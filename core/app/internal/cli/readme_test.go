package cli

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the commands of README.md. In a block of type console they must print what
// the page shows, and UPDATE=1 writes it; in a block of type sh they must print something.
// Targets of make must be in `make help`. Other tests run the rest: TestReadmeServes and
// TestReadmeRelays the commands that need a server, TestReadmeReplicas those that need an etcd,
// TestReadmeEmbeds the program, and a test of core/app/internal/e2e/demo the commands of make demo.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures a mesh, among other commands")
	}
	t.Chdir("../../../..")
	page := readMarkdown(t, "README.md")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, c := range page.commands() {
		args, ok := strings.CutPrefix(c.line, "go run ./cmd/meshmatch ")
		if !ok {
			if !regexp.MustCompile(`^(make|bin/meshmatch|curl|envoy|etcd) `).MatchString(c.line) {
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
	if commands < 10 {
		t.Errorf("found only %d commands", commands)
	}
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make\\s([a-z0-9-]+)").FindAllStringSubmatch(page.String(), -1) {
		if !regexp.MustCompile(`(?m)^` + m[1] + `:.*## `).Match(makefile) {
			t.Errorf("`make help` does not list make %s", m[1])
		}
	}
	page.save(t, "README.md")
}

// TestLinks checks that the files to which the pages link exist.
func TestLinks(t *testing.T) {
	const repository = "../../../../"
	for page, dir := range map[string]string{"README.md": "", "core/GUIDE.md": "core/", "core/KUMA.md": "core/", "core/STYLE.md": "core/", "core/app/README.md": "core/app/"} {
		for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(readMarkdown(t, repository+page).prose(), -1) {
			if _, err := os.Stat(repository + dir + m[1]); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}
