package core

import "github.com/meshmatch/meshmatch/core/internal/mesh"

// ErrPanic indicates that the code of a policy kind panicked, such as a
// hand-written merger, or an embedder's order. The error names the kind and
// contains the stack. The published view does not change.
var ErrPanic = mesh.ErrPanic
