package core

import (
	"context"
	"fmt"
)

// CheckInvariants compares the state of each writer with the published view. Tests
// call it after each commit.
func (e *Engine) CheckInvariants() error {
	if err := e.lock(context.Background()); err != nil {
		return err
	}
	defer e.unlock()
	view := e.View()
	if len(view.meshes) != len(e.meshes) {
		return fmt.Errorf("the view has %d meshes, the engine %d", len(view.meshes), len(e.meshes))
	}
	for _, m := range view.meshes {
		w := e.meshes[m.Name()]
		if w == nil {
			return fmt.Errorf("mesh %q has no writer", m.Name())
		}
		if err := w.Check(m); err != nil {
			return fmt.Errorf("mesh %q: %w", m.Name(), err)
		}
	}
	return nil
}
