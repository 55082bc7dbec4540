package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Six values for each of six fields, each for the clients with a tag of its
// own, make 7^6 kinds of clients (SPEC 5.5).
func TestRuleViewPastItsLimit(t *testing.T) {
	var text strings.Builder
	text.WriteString(`
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshTimeout
name: many
spec:
  from:
`)
	for i := range 36 {
		conf := "{connectionTimeout: %ds}"
		if fields := []string{"requestTimeout", "streamIdleTimeout", "maxStreamDuration", "maxConnectionDuration", "requestHeadersTimeout"}; i%6 > 0 {
			conf = "{http: {" + fields[i%6-1] + ": %ds}}"
		}
		fmt.Fprintf(&text, "  - {targetRef: {kind: MeshSubset, tags: {k%02d: v}}, default: "+conf+"}\n", i, i+1)
	}
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "in.yaml", Data: []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	const what = "the rule view needs more than 10000 rules; the policies many differ by the tags k35, k34, k33, k32, k31, k30, k29, k28, k27, k26 and 26 more"
	_, err = inspect.NewDataplane(view, view.Dataplanes("default")[0], inspect.Options{})
	if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "inbound 80") {
		t.Errorf("inspect: got the error %v", err)
	}
	warnings := inspect.NewCheck(view).Warnings
	want := "in.yaml:2:1: networking.inbound[0]: " + what + "; ask for one client at a time: conf --inbound NAME --tag KEY=VALUE"
	if len(warnings) != 1 || warnings[0].String() != want {
		t.Errorf("check: got\n%v\nwant\n%s", warnings, want)
	}
}
