package meshproxypatch

// Limits of a conf whose modifications take a moment on any resource.
const (
	shortModifications = 64       // with the operations of JSON patches
	shortTexts         = 64 << 10 // bytes of values
)

// IsLong reports whether the modifications may take long: there are many, their values are long, or
// they copy, which doubles what was copied before.
func (c *Conf) IsLong() bool {
	modifications, texts := 0, 0
	for i := range c.AppendModifications {
		value, patches := c.AppendModifications[i].Content()
		if value != nil {
			texts += len(*value)
		}
		modifications += 1 + len(patches)
		for k := range patches {
			if patches[k].Op == JSONCopy {
				return true
			}
			if patches[k].Value != nil {
				texts += len(*patches[k].Value)
			}
		}
	}
	return modifications > shortModifications || texts > shortTexts
}

// Content returns the value and the JSON patches of a modification; it has one of them at most.
func (m *Modification) Content() (value *EnvoyResource, patches []JSONPatch) {
	switch {
	case m.Cluster != nil:
		return m.Cluster.Value, m.Cluster.JSONPatches
	case m.Listener != nil:
		return m.Listener.Value, m.Listener.JSONPatches
	case m.NetworkFilter != nil:
		return m.NetworkFilter.Value, m.NetworkFilter.JSONPatches
	case m.HTTPFilter != nil:
		return m.HTTPFilter.Value, m.HTTPFilter.JSONPatches
	case m.VirtualHost != nil:
		return m.VirtualHost.Value, m.VirtualHost.JSONPatches
	}
	return nil, nil
}
