package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuide follows core/GUIDE.md in a new module. Blocks whose first line is a
// comment with a file name are its files. The commands must succeed; in a block of type
// console they print what the page shows. UPDATE=1 writes that.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds several programs")
	}
	t.Parallel()
	const file = "../../../GUIDE.md"
	page := readMarkdown(t, file)
	module := newModule(t)
	for _, block := range page.blocks("go", "yaml") {
		m := regexp.MustCompile(`^(?://|#) (\S+)$`).FindStringSubmatch(block.lines[0])
		if m == nil {
			t.Fatalf("the block %q does not begin with the name of a file", block.lines[0])
		}
		module.write(t, m[1], strings.Join(block.lines, "\n")+"\n")
	}
	for _, c := range page.commands() {
		output := module.run(t, c.line)
		if c.block.kind == "console" {
			c.checkOutput(t, output)
		}
	}
	page.save(t, file)
}

// TestReadmeEmbeds runs the program of README.md, whose last lines are its output.
func TestReadmeEmbeds(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	t.Parallel()
	page := readMarkdown(t, "../../../../README.md")
	blocks := page.blocks("go")
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of Go, want 1", len(blocks))
	}
	program, output, _ := strings.Cut(strings.Join(blocks[0].lines, "\n")+"\n", "// Output:\n")
	module := newModule(t)
	module.write(t, "main.go", program)
	input := page.blocks("yaml")
	if len(input) != 1 || input[0].lines[0] != "# mesh.yaml" {
		t.Fatal("README.md does not show mesh.yaml")
	}
	module.write(t, "mesh.yaml", strings.Join(input[0].lines, "\n")+"\n")
	want := strings.ReplaceAll(strings.TrimPrefix(output, "// "), "\n// ", "\n")
	if got := module.run(t, "go run ."); got != want {
		t.Errorf("the program prints\n%sand README.md shows\n%s", got, want)
	}
}

// guideModule is a module that uses this one, without the network.
type guideModule struct{ repository, dir string }

func newModule(t *testing.T) *guideModule {
	t.Helper()
	repository, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	// The versions that `go get` would select.
	var requirements, sums, replaced strings.Builder
	for _, module := range []string{"", "/core/app", "/cmd/benchgate"} {
		goMod := read(t, filepath.Join(repository, module, "go.mod"))
		_, required, _ := strings.Cut(goMod, "\n")
		requirements.WriteString(strings.Replace(required, "go 1.26.0\n", "", 1))
		sums.WriteString(read(t, filepath.Join(repository, module, "go.sum")))
		fmt.Fprintf(&replaced, "replace github.com/meshmatch/meshmatch%s => %s%[1]s\n", module, repository)
	}
	m := &guideModule{repository, t.TempDir()}
	m.write(t, "go.mod", "module example.com/control-plane\n\ngo 1.26.0\n"+requirements.String()+
		"\nrequire github.com/meshmatch/meshmatch v0.1.0\n"+
		"require github.com/meshmatch/meshmatch/cmd/benchgate v0.1.0\n"+replaced.String())
	m.write(t, "go.sum", sums.String())
	return m
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m *guideModule) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a line of the shell and returns its standard output. What would use the
// network is done in go.mod: a tool is added, and its module is required already. The
// checkout is used where it is: in another directory the compiler would have to build it again.
func (m *guideModule) run(t *testing.T, line string) string {
	t.Helper()
	switch tool, isTool := strings.CutPrefix(line, "go get -tool "); {
	case isTool:
		line = "go mod edit -tool=" + tool
	case line == "go mod init example.com/control-plane", strings.HasPrefix(line, "go get github.com/meshmatch/meshmatch"), line == "go mod tidy":
		return ""
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "=../meshmatch ", "="+m.repository+" "))
	c.Dir = m.dir
	c.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	output, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, output, stderr.String())
	}
	return string(output)
}
