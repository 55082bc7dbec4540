package core

import (
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Documents returns the types of the documents that determine where policies are enforced
// (SPEC 8.1), for [resource.Loader].
func Documents() []resource.DocumentType { return ocm.Documents() }
