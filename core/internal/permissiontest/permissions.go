package permissiontest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Permissions returns the permissions of the inbounds of the set's only
// dataplane, by the inbound's name.
func Permissions(set *resource.Set) (map[string]*permission.Permissions, error) {
	view, err := core.Options{Semantics: core.Detect(set)}.NewView(context.Background(), kinds.All(), set)
	if err != nil {
		return nil, err
	}
	d := set.Dataplanes[0]
	config, err := view.Config(d, permission.KindName, core.Enforced)
	if err != nil {
		return nil, err
	}
	out := map[string]*permission.Permissions{}
	for i := range d.Inbounds {
		out[d.Inbounds[i].Name] = permission.ForInbound(config, d, i)
	}
	return out, nil
}

// Random returns the permissions of the inbounds of a random mesh; see [Scenario].
func Random(t testing.TB, r *rand.Rand) map[string]*permission.Permissions {
	t.Helper()
	permissions, err := Permissions(Scenario(r))
	if err != nil {
		t.Fatal(err)
	}
	return permissions
}

// Reference returns the answer of the reference to a request: the decision and
// the shadow decision as [Text] prints an answer, and the number of warnings.
func Reference(set *resource.Set, inbound string, c *Call) (text string, warnings int, err error) {
	answer, err := naive.Access(kinds.All(), set, "default", "", set.Dataplanes[0].Name, inbound, c.Naive(), naive.Options{Semantics: core.Detect(set).String()})
	if err != nil {
		return "", 0, err
	}
	text = referenceText(answer)
	if shadow, ok := answer["shadow"].(map[string]any); ok {
		text += " shadow " + referenceText(shadow)
	}
	return text, len(answer["warnings"].([]any)), nil
}

func referenceText(decision map[string]any) string {
	by, _ := decision["by"].(map[string]any)
	if by["default"] == true {
		return fmt.Sprint(decision["decision"], " default")
	}
	list, _ := by["list"].(string)
	return fmt.Sprintf("%s %s %s[%v]", decision["decision"], strings.Split(by["kri"].(string), "_")[5], list, by["index"])
}
