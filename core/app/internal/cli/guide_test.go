package cli

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The programs that pages show are modules below testdata/guide, which `make examples` builds and
// runs. TestGuide checks that a page shows them as they are: blocks whose first line is a
// comment with the name of a file, and the commands of a module with what they print.
func TestGuide(t *testing.T) {
	const root = "../../../../testdata/guide/"
	// A user runs these once, in a module of his own. The modules here are made.
	setUp := regexp.MustCompile(`^go mod (init|tidy|edit)|-fuzztime`)
	for _, page := range []struct{ file, module string }{{"../../../GUIDE.md", ""}, {"../../../../README.md", "readme"}} {
		module, files, commands := page.module, 0, 0
		for _, block := range readMarkdown(t, page.file).blocks("go", "yaml", "sh", "console") {
			text := strings.Join(block.lines, "\n") + "\n"
			if name := regexp.MustCompile(`^(?://|#) (\S+)\n`).FindStringSubmatch(text); name != nil {
				file := path.Join(page.module, name[1])
				module, _, _ = strings.Cut(file, "/")
				if content := readFile(t, root+file); strings.TrimPrefix(text, name[0]) != content {
					t.Errorf("%s shows another %s", page.file, file)
				}
				files++
				continue
			}
			if module == "" || page.module != "" && files == 0 {
				continue // the commands of README.md before its program are those of the repository
			}
			ran := readFile(t, root+module+"/commands.txt")
			lines := block.lines
			if block.kind == "console" {
				lines = []string{text}
			}
			for _, command := range lines {
				if commands++; block.kind == "sh" {
					command = "$ " + command + "\n"
				}
				if !setUp.MatchString(strings.TrimPrefix(command, "$ ")) && !strings.Contains(ran, command) {
					t.Errorf("%s: `make examples` does not run this in testdata/guide/%s, or it prints something else:\n%s", page.file, module, command)
				}
			}
		}
		if files < 2 || commands == 0 {
			t.Errorf("%s shows %d files and %d commands", page.file, files, commands)
		}
	}
	// Each module has commands.
	modules, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(modules, func(m os.DirEntry) bool { return m.Name() == "embed" }) {
		t.Error("there is no module embed")
	}
	for _, m := range modules {
		readFile(t, root+m.Name()+"/commands.txt")
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
