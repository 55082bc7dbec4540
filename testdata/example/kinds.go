// Package meshkinds contains the policy kinds of another control plane, defined
// outside the meshmatch module. The examples of the policy matching proposal (000)
// use them, except bodylimit.
//
// A kind takes three steps. Package upstreamtimeout is the one to copy, or bodylimit for a
// kind with rules and an effect on Envoy:
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
	"example.com/meshkinds/bodylimit"
	"example.com/meshkinds/params"
	"example.com/meshkinds/proxytemplate"
	"example.com/meshkinds/trafficlog"
	"example.com/meshkinds/upstreamtimeout"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// Kinds returns the kinds of this module.
func Kinds() []*resource.Kind {
	return []*resource.Kind{bodylimit.Kind(), params.Kind(), proxytemplate.Kind(), trafficlog.Kind(), upstreamtimeout.Kind()}
}

// Translators returns the translators of the kinds that have an effect on Envoy.
func Translators() []xds.Translator { return []xds.Translator{bodylimit.Translator()} }
