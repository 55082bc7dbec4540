package main

import (
	"os"
	"strings"
	"testing"
)

// README.md shows the programs that the tests of package serving run.
func TestReadmeShowsThePrograms(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, kind := range map[string]string{"main.go": "go", "hello.py": "python"} {
		program, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+kind+"\n"+string(program)+"```\n") {
			t.Errorf("%s is not in README.md", file)
		}
	}
}
