package translators

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
)

// knownOperators replaces the operators of a format that a client lacks: by the older name, or
// by what Envoy writes for a value that is absent. It calls missing for the latter, with the
// release that has the operator.
func knownOperators(lacks capability.Set, format string, missing func(operator, release string)) string {
	if lacks&capability.APIs == 0 {
		return format
	}
	return meshaccesslog.EditOperators(format, func(_, written string) string {
		release := capability.ReleaseOfOperator(written)
		switch older := capability.OlderOperator(written); {
		case release == "" || !lacks.Has(capability.API(release)):
			return written
		case older != "":
			return older
		}
		missing(strings.Trim(written, "%"), release)
		return "-"
	})
}
