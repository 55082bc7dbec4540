package translators

import "github.com/meshmatch/meshmatch/core/xds"

// All returns the translators of the built-in kinds.
func All() []xds.Translator {
	return []xds.Translator{
		meshAccessLog(),
		meshTrafficPermission(),
		meshTLS(),
		meshRateLimit(),
		meshFaultInjection(),
		meshTimeout(),
		meshTrace(),
		meshMetric(),
		meshPassthrough(),
		meshProxyPatch(),
	}
}
