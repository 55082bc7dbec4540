package naive

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/kind/meshtls"
)

// withDefaults returns a conf with the fields that Kuma's schema sets, as if the item had
// them (SPEC 17.5): the bounds of a range of TLS versions.
func (m *mesh) withDefaults(conf any) any {
	tls, is := conf.(*meshtls.Conf)
	if !is || !m.kumaLike() || tls.TLSVersion == nil {
		return conf
	}
	auto := meshtls.TLSAuto
	version := meshtls.Version{Min: &auto, Max: &auto}
	if tls.TLSVersion.Min != nil {
		version.Min = tls.TLSVersion.Min
	}
	if tls.TLSVersion.Max != nil {
		version.Max = tls.TLSVersion.Max
	}
	return &meshtls.Conf{TLSVersion: &version, TLSCiphers: tls.TLSCiphers, Mode: tls.Mode}
}

// isDefault reports whether a leaf of a conf with defaults is not in the conf itself.
func (m *mesh) isDefault(conf any, pointer string) bool {
	if _, is := conf.(*meshtls.Conf); !is || !m.kumaLike() {
		return false
	}
	at := toJSON(conf)
	for _, field := range strings.Split(pointer, "/")[1:] {
		object, _ := at.(map[string]any)
		if at = object[field]; at == nil {
			return !strings.HasPrefix(pointer, "/tlsCiphers")
		}
	}
	return false
}
