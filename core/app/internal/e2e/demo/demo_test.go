package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// The page of operators has what the demo prints. UPDATE=1 writes it.
func TestPageShowsTheDemo(t *testing.T) {
	const (
		repository = "../../../../../"
		page       = "core/OPERATORS.md"
		begin, end = "```console\n$ make demo\n", "```\n"
	)
	content, err := os.ReadFile(repository + page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(content), begin)
	if !ok {
		t.Fatal(page + " does not show make demo")
	}
	shown, after, _ := strings.Cut(rest, end)
	var out strings.Builder
	if err := run(t.Context(), &out, envoytest.Path(t), repository+"testdata/demo"); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(repository+page, []byte(before+begin+out.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(shown, out.String()); diff != "" {
		t.Errorf("%s shows another output of make demo (-page +demo); UPDATE=1 writes it:\n%s", page, diff)
	}
}
