package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The limits of the hostile files of a fuzz run.
const decodingBytes, decodingDepth, decodingNodes = 64 << 10, 50, 10_000

const decodedFile = "input"

// checkDecoding reads arbitrary bytes as a file (SPEC 1.2). The result must be either
// resources, whose marshalled policies are read as the same policies, or sorted errors
// with positions.
func checkDecoding(kinds *resource.Kinds, data []byte) error {
	loader := limitedLoader(kinds)
	set, err := loader.Decode(context.Background(), resource.Input{Name: decodedFile, Data: data})
	if err != nil {
		return checkErrors(err, len(data) > decodingBytes)
	}
	for _, policy := range set.Policies {
		if err := checkPrinting(loader, policy); err != nil {
			return fmt.Errorf("policy %s: %w", policy.Name, err)
		}
	}
	return nil
}

func limitedLoader(kinds *resource.Kinds) *resource.Loader {
	loader := &resource.Loader{Kinds: kinds, Documents: core.Documents()}
	loader.Limits.Bytes, loader.Limits.Depth, loader.Limits.Nodes = decodingBytes, decodingDepth, decodingNodes
	return loader
}

func checkErrors(err error, tooLarge bool) error {
	var all diag.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		return fmt.Errorf("an error without positions: %w", err)
	}
	for _, d := range all {
		noPlace := d.Pos.File != decodedFile || !tooLarge && (d.Pos.Line < 1 || d.Pos.Column < 1)
		if noPlace || d.What == "" {
			return fmt.Errorf("an error without a position or a text: %+v", d)
		}
	}
	if !slices.Equal(all, diag.Sorted(all)) {
		return fmt.Errorf("errors out of order:\n%w", err)
	}
	return nil
}

func checkPrinting(loader *resource.Loader, policy *resource.Policy) error {
	printed := asText(policy)
	set, err := loader.Decode(context.Background(), resource.Input{Name: decodedFile, Data: []byte(printed)})
	switch {
	case err != nil:
		return fmt.Errorf("its own print is refused: %w\n%s", err, printed)
	case len(set.Policies) != 1:
		return fmt.Errorf("its print has %d policies:\n%s", len(set.Policies), printed)
	}
	if diff := Difference(withoutPositions(policy), withoutPositions(set.Policies[0])); diff != "" {
		return fmt.Errorf("its print is read as another policy, which differs %s", diff)
	}
	return nil
}

// withoutPositions returns the content of a policy without positions. A namespace is
// read from metadata or from a label, and marshalled as a label.
func withoutPositions(p *resource.Policy) []any {
	var targets []any
	for _, items := range [][]resource.Item{p.To, p.From} {
		for i := range items {
			targets = append(targets, items[i].TargetRef)
		}
	}
	return []any{p.ID, p.TargetRef, targets, p}
}

func TestDecodingOfHostileFiles(t *testing.T) {
	tests := []struct{ name, data string }{
		{"nothing", ""},
		{"no text", "\x00\xff\xfe"},
		{"an anchor that contains itself", "a: &a [*a]"},
		{"aliases that grow", "a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]"},
		{"deep nesting", strings.Repeat("[", 40_000)},
		{"deep nesting of JSON", strings.Repeat(`{"a":`, 20_000)},
		{"too much", strings.Repeat(" ", decodingBytes+1)},
		{"many documents", strings.Repeat("---\na: 1\n", 5_000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := checkDecoding(kinds.All(), []byte(test.data)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrorsHavePlaces(t *testing.T) {
	place := diag.Position{File: decodedFile, Line: 1, Column: 1}
	later := diag.Position{File: decodedFile, Line: 2, Column: 1}
	tests := []struct {
		name string
		err  error
		fine bool
	}{
		{"in order", diag.Errors{{Pos: place, What: "a"}, {Pos: later, What: "b"}}, true},
		{"another error", errors.New("x"), false},
		{"none", diag.Errors{}, false},
		{"without a line", diag.Errors{{Pos: diag.Position{File: decodedFile}, What: "a"}}, false},
		{"of another file", diag.Errors{{Pos: diag.Position{File: "x", Line: 1, Column: 1}, What: "a"}}, false},
		{"without a text", diag.Errors{{Pos: place}}, false},
		{"out of order", diag.Errors{{Pos: later, What: "b"}, {Pos: place, What: "a"}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := checkErrors(test.err, false); (err == nil) != test.fine {
				t.Errorf("got %v", err)
			}
		})
	}
}
