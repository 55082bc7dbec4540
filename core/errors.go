package core

import (
	"errors"

	"github.com/meshmatch/meshmatch/core/internal/mesh"
)

var (
	// ErrPanic indicates that the code of a policy kind panicked, such as a
	// hand-written merger, or an embedder's order. The error names the kind and
	// contains the stack. The published view does not change.
	ErrPanic = mesh.ErrPanic
	// ErrUnknownKind indicates that an engine has no policy kind of the name.
	ErrUnknownKind = errors.New("unknown policy kind")
	// ErrUnknownMesh indicates that a view has no resource of the mesh.
	ErrUnknownMesh = errors.New("unknown mesh")
	// ErrUnknownResource indicates that a view has no resource of the identity.
	ErrUnknownResource = errors.New("unknown resource")
)
