package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// AccessTest asserts which requests inbounds allow and which confs apply (SPEC 13.3). No
// answer about a mesh depends on it.
type AccessTest struct {
	ObjectOf[specs.AccessTest]
}
