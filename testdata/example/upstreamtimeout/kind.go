// Package upstreamtimeout defines the policy kind UpstreamTimeout: the timeouts of
// connections and requests to a service.
package upstreamtimeout

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of UpstreamTimeout.
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:  "UpstreamTimeout",
		Short: "ut",
		Top:   resource.TopTargets | resource.RouteTargets,
		To:    &resource.Section{Targets: resource.ToTargets, Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}
