package gate

import (
	"bytes"
	"strings"
	"testing"
)

// TestCheckRecorded applies rules to a recorded run, or reports their errors.
// If the part `flags` is times, times are also checked.
func TestCheckRecorded(t *testing.T) {
	golden(t, "check", func(t *testing.T, parts map[string]string) string {
		rules, err := ParseRules(strings.NewReader(parts["rules"]), "rules")
		if err != nil {
			return err.Error() + "\n"
		}
		results, err := Load(strings.NewReader(parts["bench"]), "bench", "")
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := rules.Check(results, strings.TrimSpace(parts["flags"]) == "times")
		if err != nil {
			return err.Error() + "\n"
		}
		var out bytes.Buffer
		if err := outcomes.WriteTable(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	})
}
