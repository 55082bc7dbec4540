package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkReplay replays 10,000 records: of 100 requests, of distinct requests,
// and of distinct requests without a header that entries compare.
func BenchmarkReplay(b *testing.B) {
	const records = 10_000
	permissions := map[string]*permission.Permissions{"http": benchPermissions(), "tcp": {}}
	fields, err := replay.NewFields([]string{"x-team"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, shape := range []struct {
		name, header string
		requests     int
	}{{"equal", `,"x-team":null`, 100}, {"distinct", `,"x-team":null`, records}, {"missing", "", records}} {
		b.Run("log="+shape.name, func(b *testing.B) {
			var log strings.Builder
			for i := range records {
				n := i % shape.requests
				fmt.Fprintf(&log, `{"start_time":"2026-11-23T12:03:00.123Z","downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":"spiffe://shop.mesh/c%d","requested_server_name":"api","method":"GET","path":"/v%d/items/%d?q=1","authority":"api","response_code_details":"via_upstream","bytes_sent":%d%s}`+"\n",
					n%50, n%4, n, i, shape.header)
			}
			text := log.String()
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				inbounds := decided(dataplane(), permissions)
				in := &replay.Input{Files: []string{replay.Stdin}, Stdin: strings.NewReader(text), Fields: fields, Before: inbounds}
				result, err := replay.Run(b.Context(), in)
				if err != nil || result.Records != records || result.Malformed > 0 {
					b.Fatalf("%d records, %d malformed: %v", result.Records, result.Malformed, err)
				}
				known := int64(0)
				for _, d := range result.Differences {
					known += d.Count
				}
				if known < records/10 || known > 9*records/10 {
					b.Fatalf("%d records differ", known)
				}
			}
		})
	}
}

// benchPermissions returns permissions with an entry for each of 40 clients, a prefix,
// and two denials.
func benchPermissions() *permission.Permissions {
	rule := &meshtrafficpermission.RuleConf{Deny: []conf.Match{
		{Path: &conf.PathMatch{Type: conf.PathRegex, Value: "/v[0-9]/items/[0-9]*7"}},
		{Headers: []conf.HeaderMatch{{Name: "x-team", Value: new("evil")}}},
	}}
	for i := range 40 {
		rule.Allow = append(rule.Allow, conf.Match{
			SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: fmt.Sprint("spiffe://shop.mesh/c", i)},
			Path:     &conf.PathMatch{Type: conf.PathPrefix, Value: fmt.Sprint("/v", i%4)},
		})
	}
	policy := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: "MeshTrafficPermission", Mesh: "default", Name: "api"}}, Type: meshtrafficpermission.Kind()}
	p := &permission.Permissions{Protocol: request.HTTP}
	p.Rules, _ = permission.NewDecisionList(request.HTTP, []permission.Rule{{Policy: policy, KRI: policy.KRI(), Conf: rule}})
	return p
}
