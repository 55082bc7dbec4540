package e2e

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// bytes is requests with bytes that are no UTF-8, which stories can not hold:
// such a header is present, and anything describes it. (Envoy refuses such a
// path.)
func bytes(*testing.T) []trial {
	present, regex, anyText := conf.HeaderPresent, conf.HeaderRegex, ".*"
	list, _ := permission.NewDecisionList(permission.HTTP, []permission.Rule{{KRI: "kri_mtp_default___bytes_", Conf: &meshtrafficpermission.RuleConf{
		Deny:  []conf.Match{{Headers: []conf.HeaderMatch{{Type: &regex, Name: "x-blocked", Value: &anyText}}}},
		Allow: []conf.Match{{Headers: []conf.HeaderMatch{{Type: &present, Name: "x-team"}}}},
	}}})
	var out []trial
	for _, form := range forms {
		trial := trial{title: "bytes/" + form.name, permissions: &permission.Permissions{Protocol: permission.HTTP, Rules: list}, form: form.form}
		for _, headers := range [][]permission.Header{
			{{Name: "x-team", Value: "\xff"}},
			{{Name: "x-team", Value: "a"}, {Name: "x-blocked", Value: "\xff"}},
			{{Name: "x-team", Value: "a"}, {Name: "x-blocked", Value: "ä"}},
			{{Name: "x-team", Value: ""}},
			{},
		} {
			trial.requests = append(trial.requests, &permission.Request{
				SpiffeID: "spiffe://shop.mesh/ns/web/sa/web", Method: "GET", Path: "/", Headers: permission.NewHeaders(headers...),
			})
		}
		out = append(out, trial)
	}
	return out
}
