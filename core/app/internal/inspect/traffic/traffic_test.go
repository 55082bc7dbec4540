package traffic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Each dataplane has the SPIFFE ID of its name.
const workloads = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 81, name: tcp, protocol: tcp, tags: {kuma.io/service: api}}]}}
---
{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
`

func withPermission(rules string) string {
	if rules == "" {
		return workloads
	}
	return workloads + "---\n{type: MeshTrafficPermission, name: p, spec: {rules: [{default: " + rules + "}]}}\n"
}

// The access of each client to each inbound, sorted (SPEC 13.2): "others" are all clients without a
// dataplane.
func TestReach(t *testing.T) {
	const (
		web  = "{spiffeId: {type: Exact, value: spiffe://td/web}}"
		tree = "{spiffeId: {type: Prefix, value: spiffe://td}}"
	)
	for _, c := range []struct{ name, rules, want string }{
		{"no permission", "", "api>tcp none, api>http none, web>tcp none, web>http none, others>tcp none, others>http none"},
		{"one client", "{allow: [" + web + "]}", "api>tcp none, api>http none, web>tcp all, web>http all, others>tcp none, others>http none"},
		{"a trust domain", "{allow: [" + tree + "]}", "api>tcp all, api>http all, web>tcp all, web>http all, others>tcp some, others>http some"},
		{"deny over allow", "{deny: [" + web + "], allow: [" + tree + "]}", "api>tcp all, api>http all, web>tcp none, web>http none, others>tcp some, others>http some"},
		{"a method, which TCP does not see", "{allow: [{method: GET}]}", "api>tcp none, api>http some, web>tcp none, web>http some, others>tcp none, others>http some"},
		{"a denied method, which TCP denies whole", "{deny: [{method: GET}], allow: [" + tree + "]}", "api>tcp none, api>http some, web>tcp none, web>http some, others>tcp none, others>http some"},
		{"a shadow deny allows", "{allowWithShadowDeny: [" + web + "]}", "api>tcp none, api>http none, web>tcp all, web>http all, others>tcp none, others>http none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reach, err := traffic.NewReach(coretest.View(t, withPermission(c.rules)), "default", traffic.ReachQuery{}, inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cell := range reach.Cells {
				client := "others"
				if id := reach.Clients[cell.Client].ID; id != traffic.OtherClients {
					client = strings.TrimPrefix(id, "spiffe://td/")
				}
				got = append(got, fmt.Sprintf("%s>%s %s", client, reach.Inbounds[cell.Inbound].Inbound, cell.Access))
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if _, err := traffic.NewReach(coretest.View(t, workloads), "default", traffic.ReachQuery{To: "nowhere"}, inspect.Options{}); err == nil {
		t.Error("a service that does not exist is no error")
	}
}

// An assertion holds for every request, or a request shows that it does not (SPEC 13.3).
func TestAssertions(t *testing.T) {
	for _, c := range []struct {
		name, rules, assertion, result string
		example                        bool // a request shows it
	}{
		{"it holds", "{allow: [{spiffeId: {type: Exact, value: spiffe://td/web}}]}", "{name: a, from: {spiffeId: spiffe://td/web}, to: {service: api}, expect: ALLOW}", "pass", false},
		{"it fails", "{allow: [{spiffeId: {type: Exact, value: spiffe://td/web}}]}", "{name: a, from: {spiffeId: spiffe://td/api}, to: {service: api}, expect: ALLOW}", "fail", true},
		{"some request", "{allow: [{method: GET}]}", "{name: a, from: {spiffeId: spiffe://td/api}, to: {service: web}, expect: DENY}", "fail", true},
		{"no dataplane", "", "{name: a, from: {spiffeId: spiffe://td/api}, to: {service: other}, expect: DENY}", "fail", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := coretest.View(t, withPermission(c.rules)+"---\n{type: AccessTest, name: t, always: ["+c.assertion+"]}\n")
			results := traffic.RunTests(view, "default", func(name string) (*resource.Kind, error) { return find.Kind(view.Kinds(), name) }, inspect.Options{})
			if len(results.Tests) != 1 {
				t.Fatalf("%d results", len(results.Tests))
			}
			r := results.Tests[0]
			if string(r.Result) != c.result || (r.Counterexample != nil) != c.example || results.Passed() != (c.result == "pass") {
				t.Errorf("got %s, %s with the example %v", r.Result, r.Why, r.Counterexample)
			}
		})
	}
}

// A field may have another key in the log, which no other field has (SPEC 13.6).
func TestReplayFields(t *testing.T) {
	view := coretest.View(t, workloads)
	if _, err := traffic.ReplayFields(map[string]string{"method": "verb"}, "default", view); err != nil {
		t.Error(err)
	}
	if _, err := traffic.ReplayFields(map[string]string{"method": "path"}, "default", view); err == nil {
		t.Error("two fields are read from one key")
	}
	fields, err := traffic.ReplayFields(nil, "default", view)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := traffic.NewReplayLog(fields, "default", "/var/log/access.log")
	if err != nil || policy.Type.Name != "MeshAccessLog" || policy.Mesh != "default" {
		t.Errorf("%v, %v", policy, err)
	}
}
