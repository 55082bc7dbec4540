package translators

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

// releaseAPIs are the capabilities of what each release added to the API.
const releaseAPIs = capability.API136 | capability.API137 | capability.API138 | capability.API139 | capability.API140

// unknownError is what a patched message uses although the client does not know it.
type unknownError envoyapi.Need

func (e unknownError) Error() string {
	return fmt.Sprintf("Envoy before %s has no %s: it would ignore it, or refuse the resource", e.Release, e.Name)
}

// unknownTo returns what a message uses that the client does not know: Envoy ignores such a
// field, and what it closes would be open (SPEC 18.3). Resources without patches have none.
func unknownTo(lacks capability.Set, m proto.Message) error {
	if lacks&releaseAPIs == 0 || m == nil {
		return nil
	}
	for _, need := range envoyapi.Needs(m) {
		if lacks.Has(capability.API(need.Release)) {
			return unknownError(need)
		}
	}
	return nil
}

// patchCode returns the code of the warning that a modification does not apply.
func patchCode(err error) diag.Code {
	if _, unknown := err.(unknownError); unknown {
		return diag.OlderEnvoy
	}
	return diag.PatchNotApplied
}
