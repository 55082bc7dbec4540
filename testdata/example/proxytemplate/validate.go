package proxytemplate

import "github.com/meshmatch/meshmatch/core/strict"

// Validate checks that exactly one type of resource is changed.
func (m *Modification) Validate(at *strict.At) {
	switch {
	case m.Cluster == nil && m.Listener == nil:
		at.Errorf("give cluster or listener", "a modification must change something")
	case m.Cluster != nil && m.Listener != nil:
		at.Field("listener").Errorf("write two modifications", "stands beside cluster")
	}
}

// Validate checks that there is a resource exactly where one is needed.
func (c *Change) Validate(at *strict.At) {
	switch needed := c.Operation != "remove"; {
	case needed && c.Value == nil:
		at.Field("value").Errorf("", "is required for %q", c.Operation)
	case !needed && c.Value != nil:
		at.Field("value").Errorf("remove it", "does not go with %q", c.Operation)
	}
}
