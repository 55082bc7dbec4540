// Package trafficlog is the policy kind TrafficLog: where lines about requests
// are written to. It has both arrays, which are merged independently.
package trafficlog

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of TrafficLog.
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, ConfMerger]()
	return &resource.Kind{
		Name:  "TrafficLog",
		Short: "tl",
		Top:   resource.TopTargets,
		To:    &resource.Section{Targets: resource.ServiceTargets, Conf: conf},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: conf},
	}
}
