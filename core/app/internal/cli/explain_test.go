package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Each example of a code is input for which check has a finding with that code, and
// explain prints it.
func TestExamplesOfCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("each command has one small document")
	}
	for _, d := range diag.Definitions() {
		t.Run(d.Code.String(), func(t *testing.T) {
			var explained, stderr bytes.Buffer
			if code := (Program{}).run(t.Context(), []string{"explain", strings.ToLower(d.Code.String())}, nil, &explained, &stderr); code != exitDone || explained.String() != explanation(d) {
				t.Errorf("explain: exit code %d: %s%s", code, explained.String(), stderr.String())
			}
			if d.Example == "" {
				return
			}
			args := append(strings.Fields(strings.Replace(exampleCommand(d), "example.yaml", "-", 1))[1:], "-o", "json")
			var stdout bytes.Buffer
			Program{}.run(t.Context(), args, strings.NewReader(d.Example), &stdout, &stderr)
			var answer struct {
				Errors, Warnings, Info []struct{ Code, Class, Message string }
			}
			if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
				t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
			}
			list := append(answer.Warnings, answer.Info...)
			if d.Class == diag.ClassError {
				list = answer.Errors
			}
			for _, found := range list {
				if found.Code == d.Code.String() && found.Class == string(d.Class) && found.Message != "" {
					return
				}
			}
			t.Errorf("the example %q has no such finding:\n%s", d.Title, stdout.String())
		})
	}
}

// The documents of examples are separated as in files.
func TestExamplesOfCodesAreDocuments(t *testing.T) {
	for _, d := range diag.Definitions() {
		if d.Example != "" && !strings.HasSuffix(d.Example, "\n") {
			t.Errorf("the example of %s does not end in a line", d.Code)
		}
		if len(strict.Chunks([]byte(d.Example), 1)) != 1 {
			t.Errorf("the example of %s is too long", d.Code)
		}
	}
}

// findingsPage returns core/diag/FINDINGS.md: what explain prints, of all codes.
func findingsPage() string {
	var b strings.Builder
	b.WriteString(`# Findings

Each error and warning has a code that never changes its meaning. ` + "`meshmatch explain CODE`" + ` prints
what this page has about one of them.

The program reads this page. A test checks every example that has documents, and that each
section agrees with its row. In the semantics of Kuma, ` + "`check --serve`" + ` alone looks for findings with
` + "`data plane`" + ` next to their class.

| code | class | finding |
|---|---|---|
`)
	for _, d := range diag.Definitions() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", d.Code, strings.ToLower(d.Code.String()), d.Class, d.Title)
	}
	for _, d := range diag.Definitions() {
		class := string(d.Class)
		if d.Serve {
			class += ", data plane"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s (%s). %s\n\n", d.Code, strings.ToUpper(d.Title[:1])+d.Title[1:], class, d.Means)
		if d.Example != "" {
			fmt.Fprintf(&b, "Example, for `%s`:\n\n```yaml\n%s```\n\n", exampleCommand(d), d.Example)
		} else {
			fmt.Fprintf(&b, "Example: %s\n\n", d.When)
		}
		fmt.Fprintf(&b, "Fix: %s\n", d.Mend)
	}
	return b.String()
}

// The page is what is printed of the definitions that were read of it, so no part of it is
// ignored. UPDATE=1 writes it, for example after a change of a title in the table.
func TestFindings(t *testing.T) {
	const path = "../../../diag/FINDINGS.md"
	want := findingsPage()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what is printed of its definitions: %s (%v)", path, cmp.Diff(string(got), want), err)
	}
}
