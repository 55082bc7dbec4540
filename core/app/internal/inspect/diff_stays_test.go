package inspect_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
)

// Where an edit takes access, what began before goes on: on an HTTP inbound the open streams
// until they end, on a TCP inbound the old connections until the drain ends. Where access is
// only given, or moves to another rule, nothing is named (SPEC 11.8).
func TestStays(t *testing.T) {
	const web = `{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [` +
		`{port: 80, name: http, protocol: http, tags: {kuma.io/service: web}}, {port: 90, name: tcp, tags: {kuma.io/service: web}}]}}`
	const (
		a   = `{spiffeId: {type: Exact, value: "spiffe://td/a"}}`
		b   = `{spiffeId: {type: Exact, value: "spiffe://td/b"}}`
		get = `{spiffeId: {type: Exact, value: "spiffe://td/a"}, method: GET}`
	)
	allow := func(matches string) string { return permissions("p", `{default: {allow: [`+matches+`]}}`) }
	const streams, connections = "kri_dp_default___web_ http streams", "kri_dp_default___web_ tcp connections"
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"one client less":           {allow(a + "," + b), allow(a), []string{streams, connections}},
		"one client more":           {allow(a), allow(a + "," + b), nil},
		"another client":            {allow(a), allow(b), []string{streams, connections}},
		"the same in another order": {allow(a + "," + b), allow(b + "," + a), nil},
		"one that is denied":        {allow(a), permissions("p", `{default: {allow: [`+a+`], deny: [`+b+`]}}`), nil},
		"one that is denied and was allowed": {allow(a + "," + b), permissions("p", `{default: {allow: [`+a+`,`+b+`], deny: [`+b+`]}}`),
			[]string{streams, connections}},
		"only requests":               {allow(get + "," + b), allow(b), []string{streams}},
		"only a method of it remains": {allow(a), allow(get), []string{streams, connections}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := diff.New(viewOf(t, web, test.before), viewOf(t, web, test.after), "default", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range d.Stays {
				got = append(got, fmt.Sprint(s.Dataplane, " ", s.Inbound, " ", s.What))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
