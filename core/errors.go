package core

import (
	"errors"

	"github.com/meshmatch/meshmatch/core/internal/mesh"
)

var (
	// ErrPanic indicates that an embedder's code panicked: a policy kind, such as one with a
	// hand-written merger, or an order. The error names the kind and contains the
	// stack. The published view does not change.
	ErrPanic = mesh.ErrPanic
	// ErrNoSemantics indicates that the [Options] of an engine name no semantics.
	ErrNoSemantics = errors.New("the options name no semantics; use TargetRef, Kuma or Kuma3, or what Detect finds in the resources")
	// ErrUnknownKind indicates that an engine has no policy kind with the name.
	ErrUnknownKind = errors.New("unknown policy kind")
	// ErrUnknownMesh indicates that a view has no resource of the mesh.
	ErrUnknownMesh = errors.New("unknown mesh")
	// ErrUnknownResource indicates that a view has no resource with the identity.
	ErrUnknownResource = errors.New("unknown resource")
)
