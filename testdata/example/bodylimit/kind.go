// Package bodylimit defines the policy kind BodyLimit: the largest body of a request to an
// inbound, by rules that compare the client and the request. It also has an effect on Envoy.
package bodylimit

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of BodyLimit.
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:  "BodyLimit",
		Short: "bl",
		Top:   resource.TopTargets,
		Rules: &resource.Section{Conf: resource.ConfOf[Conf, mergerOfConf](), Matches: true},
	}
}
