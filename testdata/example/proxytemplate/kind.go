// Package proxytemplate is the policy kind ProxyTemplate: changes to the Envoy
// configuration of a proxy. It has neither inbounds nor outbounds to select,
// and so a single default.
package proxytemplate

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of ProxyTemplate.
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:    "ProxyTemplate",
		Short:   "pt",
		Top:     resource.TopTargets,
		Default: &resource.Section{Conf: resource.ConfOf[Conf, ConfMerger]()},
	}
}
