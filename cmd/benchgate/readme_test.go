package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme makes the files that the console block of the README of package gate
// shows, runs its commands, and compares what they print. UPDATE=1 writes it.
func TestReadme(t *testing.T) {
	path, err := filepath.Abs("../../bench/gate/README.md")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	block := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatchIndex(page)
	if block == nil {
		t.Fatal("there is no console block")
	}
	updated, ran := "", 0
	t.Chdir(t.TempDir())
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(page[block[2]:block[3]], -1)[1:] {
		line, shown, _ := strings.Cut(part, "\n")
		args := strings.Fields(line)
		switch {
		case len(args) == 2 && args[0] == "cat":
			if err := os.WriteFile(args[1], []byte(shown), 0o644); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, "go tool benchgate "):
			ran++
			var stdout, stderr bytes.Buffer
			run(t.Context(), args[3:], strings.NewReader(""), &stdout, &stderr)
			if got := stdout.String() + stderr.String(); got != shown {
				t.Errorf("$ %s\n%s\nwant\n%s", line, got, shown)
				shown = got
			}
		default:
			t.Errorf("%s: no test runs this", line)
		}
		updated += "$ " + line + "\n" + shown
	}
	if ran == 0 {
		t.Error("no command ran")
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(page[:block[2]]+updated+page[block[3]:]), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// The recipes for CI fail if a machine is too noisy to judge: otherwise a slower benchmark
// passes on a busy one.
func TestRecipesFailIfInconclusive(t *testing.T) {
	for _, page := range []string{"../../bench/gate/README.md", "../../core/GUIDE.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		recipes := 0
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "- run: go tool benchgate compare") {
				if recipes++; !strings.Contains(line, "--fail-on-inconclusive") {
					t.Errorf("%s: %s", page, line)
				}
			}
		}
		if recipes == 0 {
			t.Errorf("%s has no recipe", page)
		}
	}
}
