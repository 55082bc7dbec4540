// Package meshkinds is a control plane's own policy kinds, made outside of
// meshmatch and with nothing in it edited. They are those that the examples of
// the policy matching proposal use (000).
//
// A kind takes three steps; package upstreamtimeout is the one to copy:
//
//  1. conf.go has the Conf types. Fields that may be left out are pointers or
//     lists; the root type has the directive //confgen:conf.
//  2. go generate writes how Confs merge, compare, hash and clone beside them,
//     and the tests of the laws of that. The generator is a tool of the module:
//     go get -tool github.com/meshmatch/meshmatch/cmd/confgen.
//  3. kind.go tells the kind's name, its arrays and where targetRefs may point.
//
// [Kinds] then goes wherever meshmatch asks for kinds.
package meshkinds

import (
	"example.com/meshkinds/proxytemplate"
	"example.com/meshkinds/trafficlog"
	"example.com/meshkinds/upstreamtimeout"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Kinds returns meshmatch's kinds and those of this module.
func Kinds() *resource.Kinds {
	return resource.NewKinds(append(kinds.BuiltIn(), upstreamtimeout.Kind(), proxytemplate.Kind(), trafficlog.Kind())...)
}
