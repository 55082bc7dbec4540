package rules

import "github.com/meshmatch/meshmatch/core/resource"

// HasUnion is for tests.
func HasUnion(section *resource.Section) bool { return NewBlocks().hasUnion(section) }
