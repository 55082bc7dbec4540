package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// markdown is a page of documentation, as text and blocks of code by turns.
type markdown struct{ parts []*codeBlock }

// codeBlock is a fenced block of code, or the text between two of them, whose
// kind is "".
type codeBlock struct {
	kind  string // such as "go"
	lines []string
}

// shellCommand is a command of a block: a line of type sh, or one of type console
// that begins with "$ ", with the output that follows it.
type shellCommand struct {
	block *codeBlock
	line  string
	want  []string
	at    int // index of its line in the block
}

func readMarkdown(t *testing.T, file string) *markdown {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := &markdown{parts: []*codeBlock{{}}}
	for _, line := range strings.Split(string(data), "\n") {
		last := m.parts[len(m.parts)-1]
		kind, isFence := strings.CutPrefix(line, "```")
		inBlock := len(m.parts)%2 == 0
		switch {
		case isFence && inBlock:
			m.parts = append(m.parts, &codeBlock{})
		case isFence:
			m.parts = append(m.parts, &codeBlock{kind: kind})
		default:
			last.lines = append(last.lines, line)
		}
	}
	return m
}

// String returns the page.
func (m *markdown) String() string {
	var lines []string
	for i, part := range m.parts {
		if i%2 == 1 {
			lines = append(lines, "```"+part.kind)
		}
		lines = append(lines, part.lines...)
		if i%2 == 1 {
			lines = append(lines, "```")
		}
	}
	return strings.Join(lines, "\n")
}

// prose returns the page without its blocks of code.
func (m *markdown) prose() string {
	var lines []string
	for i := 0; i < len(m.parts); i += 2 {
		lines = append(lines, m.parts[i].lines...)
	}
	return strings.Join(lines, "\n")
}

// blocks returns the blocks of some kinds.
func (m *markdown) blocks(kinds ...string) []*codeBlock {
	var blocks []*codeBlock
	for i, part := range m.parts {
		if i%2 == 1 && slices.Contains(kinds, part.kind) {
			blocks = append(blocks, part)
		}
	}
	return blocks
}

// commands returns the commands of the page, in order.
func (m *markdown) commands() []*shellCommand {
	var commands []*shellCommand
	for _, block := range m.blocks("sh", "console") {
		for i, line := range block.lines {
			command, isCommand := strings.CutPrefix(line, "$ ")
			switch {
			case isCommand || block.kind == "sh":
				commands = append(commands, &shellCommand{block: block, line: command, at: i})
			case len(commands) > 0:
				last := commands[len(commands)-1]
				last.want = append(last.want, line)
			}
		}
	}
	return commands
}

// checkOutput compares the output of a command with the page. With UPDATE=1 it
// changes the page; the command must then be the last of its block.
func (c *shellCommand) checkOutput(t *testing.T, output string) {
	t.Helper()
	got := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if os.Getenv("UPDATE") != "" {
		c.block.lines = append(c.block.lines[:c.at+1:c.at+1], got...)
	} else if diff := cmp.Diff(c.want, got); diff != "" {
		t.Errorf("%s (-page +output):\n%s", c.line, diff)
	}
}

// save writes the page if UPDATE is set.
func (m *markdown) save(t *testing.T, file string) {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.WriteFile(file, []byte(m.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
