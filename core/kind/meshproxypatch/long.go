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
		value, patches := c.AppendModifications[i].content()
		modifications += 1 + len(patches)
		texts += len(value)
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

// content returns the value and the JSON patches of a modification; it has one of them at most.
func (m *Modification) content() (value EnvoyResource, patches []JSONPatch) {
	var v *EnvoyResource
	switch {
	case m.Cluster != nil:
		v, patches = m.Cluster.Value, m.Cluster.JSONPatches
	case m.Listener != nil:
		v, patches = m.Listener.Value, m.Listener.JSONPatches
	case m.NetworkFilter != nil:
		v, patches = m.NetworkFilter.Value, m.NetworkFilter.JSONPatches
	case m.HTTPFilter != nil:
		v, patches = m.HTTPFilter.Value, m.HTTPFilter.JSONPatches
	case m.VirtualHost != nil:
		v, patches = m.VirtualHost.Value, m.VirtualHost.JSONPatches
	}
	if v != nil {
		value = *v
	}
	return value, patches
}
