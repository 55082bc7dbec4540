package meshproxypatch_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

// A conf is long that may take long on any resource, and no usual one.
func TestIsLong(t *testing.T) {
	value := func(size int) *meshproxypatch.EnvoyResource {
		v := meshproxypatch.EnvoyResource(strings.Repeat("x", size))
		return &v
	}
	long := conf.JSON(strings.Repeat("1", 70<<10))
	for name, c := range map[string]struct {
		long          bool
		modifications []meshproxypatch.Modification
	}{
		"none":            {false, nil},
		"some":            {false, make([]meshproxypatch.Modification, 64)},
		"many":            {true, make([]meshproxypatch.Modification, 65)},
		"many operations": {true, []meshproxypatch.Modification{{VirtualHost: &meshproxypatch.VirtualHostMod{JSONPatches: make([]meshproxypatch.JSONPatch, 64)}}}},
		"a short value":   {false, []meshproxypatch.Modification{{Cluster: &meshproxypatch.ClusterMod{Value: value(64 << 10)}}}},
		"long values":     {true, []meshproxypatch.Modification{{HTTPFilter: &meshproxypatch.HTTPFilterMod{Value: value(33 << 10)}}, {NetworkFilter: &meshproxypatch.NetworkFilterMod{Value: value(33 << 10)}}}},
		"a long JSON":     {true, []meshproxypatch.Modification{{Listener: &meshproxypatch.ListenerMod{JSONPatches: []meshproxypatch.JSONPatch{{Value: &long}}}}}},
		"a copy":          {true, []meshproxypatch.Modification{{Listener: &meshproxypatch.ListenerMod{JSONPatches: []meshproxypatch.JSONPatch{{Op: meshproxypatch.JSONCopy}}}}}},
	} {
		if got := (&meshproxypatch.Conf{AppendModifications: c.modifications}).IsLong(); got != c.long {
			t.Errorf("%s: %v, want %v", name, got, c.long)
		}
	}
}
