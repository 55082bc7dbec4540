// Package trafficlog defines the policy kind TrafficLog: the backends to which lines
// about requests are written. It has `to` and `from`, which merge independently.
package trafficlog

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of TrafficLog.
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:  "TrafficLog",
		Short: "tl",
		Top:   resource.TopTargets,
		To:    &resource.Section{Targets: resource.ServiceTargets, Conf: conf},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: conf},
	}
}
