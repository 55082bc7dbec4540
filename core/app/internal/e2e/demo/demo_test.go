package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// README.md has what the demo prints. UPDATE=1 writes it.
func TestREADMEShowsTheDemo(t *testing.T) {
	const (
		repository = "../../../../../"
		begin, end = "```console\n$ make demo\n", "```\n"
	)
	page, err := os.ReadFile(repository + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	if !ok {
		t.Fatal("README.md does not show make demo")
	}
	shown, after, _ := strings.Cut(rest, end)
	var out strings.Builder
	if err := run(t.Context(), &out, envoytest.Path(t), repository+"testdata/demo"); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(repository+"README.md", []byte(before+begin+out.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(shown, out.String()); diff != "" {
		t.Errorf("README.md shows another output of make demo (-README +demo); UPDATE=1 writes it:\n%s", diff)
	}
}
