// Package proxytemplate defines the policy kind ProxyTemplate: changes to the Envoy
// configuration of a proxy. It applies to the whole proxy, so it has a single
// default instead of arrays.
package proxytemplate

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of ProxyTemplate.
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:    "ProxyTemplate",
		Short:   "pt",
		Top:     resource.TopTargets,
		Default: &resource.Section{Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}
