package translators

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
)

// unknownError is what a patched message uses although the client does not support it: a name of the
// API, or an operator of a log or header as it is written.
type unknownError envoyapi.Need

func (e unknownError) Error() string {
	if strings.HasPrefix(e.Name, "%") {
		return fmt.Sprintf("Envoy before %s has no operator %s: it would refuse the resource", e.Release, strings.Trim(e.Name, "%"))
	}
	return fmt.Sprintf("Envoy before %s has no %s: it would ignore it, or refuse the resource", e.Release, e.Name)
}

// unknownTo returns what a message uses that the client does not support: Envoy ignores
// such a field, and what it closes would be open (SPEC 18.3). Resources without patches
// have none.
func unknownTo(lacks capability.Set, m proto.Message) error {
	if lacks&capability.APIs == 0 || m == nil {
		return nil
	}
	for _, need := range envoyapi.Needs(m) {
		if lacks.Has(capability.API(need.Release)) {
			return unknownError(need)
		}
	}
	var unknown error
	for _, value := range envoyapi.Values(m) {
		text, ok := value.Interface().(string)
		if !ok || !strings.Contains(text, "%") {
			continue
		}
		meshaccesslog.EditOperators(text, func(_, written string) string {
			if release := capability.ReleaseOfOperator(written); release != "" && lacks.Has(capability.API(release)) && unknown == nil {
				unknown = unknownError{release, written}
			}
			return written
		})
	}
	return unknown
}

// patchCode returns the code of the warning that a modification does not apply.
func patchCode(err error) diag.Code {
	if _, unknown := err.(unknownError); unknown {
		return diag.OlderEnvoy
	}
	return diag.PatchNotApplied
}
