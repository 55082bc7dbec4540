package meshtrafficpermission

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Action is a decision about a client.
//
//confgen:openapi {"type": "string", "pattern": "^(?i:allow|deny|allowwithshadowdeny)$"}
type Action string

// The actions. AllowWithShadowDeny allows; the shadow matcher reports a denial.
const (
	Allow               Action = "Allow"
	Deny                Action = "Deny"
	AllowWithShadowDeny Action = "AllowWithShadowDeny"
)

// UnmarshalText reads an action in any letter case (SPEC 7.6).
func (a *Action) UnmarshalText(text []byte) error {
	words := []string{string(Allow), string(Deny), string(AllowWithShadowDeny)}
	for _, word := range words {
		if strings.EqualFold(word, string(text)) {
			*a = Action(word)
			return nil
		}
	}
	return &diag.TextError{Code: diag.UnknownValue, What: fmt.Sprintf("unknown value %q", text), Hint: diag.DidYouMean(string(text), words)}
}
