package kindtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

const file = "p.yaml"

// Case is a Conf with the expected result.
type Case struct {
	// In is the array that contains the Conf; empty means to or, if the kind does not
	// have it, default or rules.
	In string
	// Conf is in YAML's flow style: {connectionTimeout: 0s}. If the fields of the Conf
	// are in the item itself, it has no braces.
	Conf string
	// Want is the complete text of the errors or of the warnings, or the JSON of the
	// Conf. The Conf begins in line 2, column 1 of p.yaml.
	Want string
}

// Rejected checks that each case has exactly the expected errors.
func Rejected(t *testing.T, kind *resource.Kind, cases map[string]Case) {
	t.Helper()
	each(t, cases, func(_ *testing.T, c *Case) string {
		_, err := decode(kind, c.Document(kind))
		if err == nil {
			return "accepted:\n" + c.Document(kind)
		}
		return err.Error()
	})
}

// each compares what a function returns for each case with what the case wants.
func each(t *testing.T, cases map[string]Case, result func(*testing.T, *Case) string) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := result(t, &c); got != c.Want {
				t.Errorf("got  %s\nwant %s", got, c.Want)
			}
		})
	}
}

func decode(kind *resource.Kind, document string) (*resource.Set, error) {
	loader := resource.Loader{Kinds: resource.NewKinds(kind), As: diag.AsTargetRef}
	return loader.Decode(context.Background(), resource.Input{Name: file, Data: []byte(document)})
}

// Document returns a policy of the kind with the Conf.
func (c *Case) Document(kind *resource.Kind) string {
	before := fmt.Sprintf("{type: %s, mesh: default, name: p, spec: {", kind.Name)
	in := c.In
	if in == "" {
		switch {
		case kind.To != nil:
			in = "to"
		case kind.Default != nil:
			in = "default"
		default:
			in = "rules"
		}
	}
	switch {
	case in == "default":
		return before + "default:\n" + c.Conf + "\n}}\n"
	case in == "to" && kind.To.Inline:
		return before + "to: [{targetRef: {kind: MeshService, name: backend},\n" + c.Conf + "\n}]}}\n"
	case in == "rules":
		return before + "rules: [{default:\n" + c.Conf + "\n}]}}\n"
	}
	return before + in + ": [{targetRef: {kind: Mesh}, default:\n" + c.Conf + "\n}]}}\n"
}
