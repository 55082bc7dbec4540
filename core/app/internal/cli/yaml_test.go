package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"go.yaml.in/yaml/v3"
)

// TestYAMLEqualsJSON checks that YAML and JSON decode to the same strings.
func TestYAMLEqualsJSON(t *testing.T) {
	for _, text := range []string{
		"", "plain", "yes", "null", "~", "012", "0x10", "1e3", "1_000", ".inf", "2026-01-01", "=", "<<", "*a", "&a", "- a", "a: b", "a #b",
		" before", "after ", "\ttab", "one\ntwo", "one\n  two\n\n", "\nfirst", "a\r\nb", "\"double\" 'single' \\", "{}", "%a", "@a", "<>&",
		"\x00", "\x1b", "\x7f", "\u0085", "\u2028", "ä", "😀", "\ufeff", strings.Repeat("long ", 1000),
	} {
		answer := map[string]any{"value": text, text: "value", "list": []any{text, 1, 0.5, true, nil, map[string]any{}, []any{}}}
		asJSON, err := inspect.JSON(answer)
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := toYAML(answer)
		if err != nil {
			t.Errorf("%.50q: %v", text, err)
			continue
		}
		var want, read any
		if err := json.Unmarshal(asJSON, &want); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(asYAML, &read); err != nil {
			t.Errorf("%.50q: %v\n%s", text, err, asYAML)
			continue
		}
		back, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(back, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.50q:\n%s\n%s", text, diff, asYAML)
		}
	}
}
