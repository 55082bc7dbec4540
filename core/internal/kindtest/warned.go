package kindtest

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Warned checks that each case is accepted with exactly the expected warnings, one per
// line.
func Warned(t *testing.T, kind *resource.Kind, cases map[string]Case) {
	t.Helper()
	each(t, cases, func(t *testing.T, c *Case) string {
		var lines []string
		for _, warning := range c.load(t, kind).Warnings {
			lines = append(lines, warning.Error())
		}
		return strings.Join(lines, "\n")
	})
}

// Completed checks that each case is accepted and marshalled as the expected JSON, which
// contains the defaults of absent fields.
func Completed(t *testing.T, kind *resource.Kind, cases map[string]Case) {
	t.Helper()
	each(t, cases, func(t *testing.T, c *Case) string {
		policy := c.load(t, kind).Policies[0]
		printed := policy.Default
		switch {
		case len(policy.To) > 0:
			printed = policy.To[0].Conf
		case len(policy.From) > 0:
			printed = policy.From[0].Conf
		case len(policy.Rules) > 0:
			printed = policy.Rules[0].Conf
		}
		got, err := conf.Marshal(printed)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	})
}

func (c *Case) load(t *testing.T, kind *resource.Kind) *resource.Set {
	t.Helper()
	set, err := decode(kind, c.Document(kind))
	if err != nil {
		t.Fatal(err)
	}
	return set
}
