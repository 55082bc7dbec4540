package proxytemplate

import "github.com/meshmatch/meshmatch/core/diag"

// Validate checks that exactly one type of resource is changed.
func (m *Modification) Validate(at *diag.At) {
	switch {
	case m.Cluster == nil && m.Listener == nil:
		at.Errorf(diag.EmptyValue, "give cluster or listener", "a modification must change something")
	case m.Cluster != nil && m.Listener != nil:
		at.Field("listener").Errorf(diag.BothPresent, "write two modifications", "is given in addition to cluster")
	}
}

// Validate checks that a value is given if and only if the operation needs one.
func (c *Change) Validate(at *diag.At) {
	switch needed := c.Operation != "remove"; {
	case needed && c.Value == nil:
		at.Field("value").Errorf(diag.MissingField, "", "is required for %q", c.Operation)
	case !needed && c.Value != nil:
		at.Field("value").Errorf(diag.FieldNotAllowed, "remove it", "is not allowed for %q", c.Operation)
	}
}
