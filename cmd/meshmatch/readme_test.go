package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Every command that README shows works: those of this program are run, those
// of make must be targets, and `make help` must know them.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, line := range strings.Split(string(readme), "\n") {
		args, ok := strings.CutPrefix(line, "go run ./cmd/meshmatch ")
		if !ok {
			continue
		}
		commands++
		t.Run(args, func(t *testing.T) {
			t.Chdir("../..")
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr); code != exitDone {
				t.Errorf("exit code %d: %s", code, stderr.String())
			}
			if stdout.Len() == 0 {
				t.Error("nothing is printed")
			}
		})
	}
	if commands < 5 {
		t.Errorf("found only %d commands; has README changed its form?", commands)
	}
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z0-9-]+)").FindAllStringSubmatch(string(readme), -1) {
		if !regexp.MustCompile(`(?m)^` + m[1] + `:.*## `).Match(makefile) {
			t.Errorf("README says make %s, which `make help` does not show", m[1])
		}
	}
}

// The two commands that README starts with work as they stand.
func TestFirstCommand(t *testing.T) {
	c := exec.Command("go", "run", "./cmd/meshmatch", "inspect", "dataplane", "web-1", "-f", "testdata/demo")
	c.Dir = "../.."
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("Dataplane web-1")) {
		t.Errorf("%v: %s", err, out)
	}
}
