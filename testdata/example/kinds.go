// Package meshkinds contains the policy kinds of another control plane, defined
// outside the meshmatch module. The examples of the policy matching proposal (000)
// use them.
//
// A kind takes three steps; package upstreamtimeout is the one to copy:
//
//  1. conf.go declares the Conf type with the directive //confgen:conf. Fields
//     that may be absent are pointers or lists.
//  2. go generate writes the code that merges Confs, and a test of its laws. The
//     generator is a tool of the module:
//     go get -tool github.com/meshmatch/meshmatch/cmd/confgen.
//  3. kind.go describes the kind: its name, its arrays and the allowed targetRefs.
//
// The test of this package checks each kind with fuzz.CheckKind. The command
// cmd/shopmesh is meshmatch with these kinds.
package meshkinds

import (
	"example.com/meshkinds/params"
	"example.com/meshkinds/proxytemplate"
	"example.com/meshkinds/trafficlog"
	"example.com/meshkinds/upstreamtimeout"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Kinds returns the kinds of this module.
func Kinds() []*resource.Kind {
	return []*resource.Kind{params.Kind(), proxytemplate.Kind(), trafficlog.Kind(), upstreamtimeout.Kind()}
}
