package permission

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// evadable returns the reason why any client can evade or meet an entry by its headers, or ""
// if no client can (SPEC 7.2). A client may omit a header, or name it in Connection. Then an
// allow entry with Absent allows it, and a deny entry for the header does not deny it. No
// client can omit the host.
func evadable(list List, m *conf.Match) string {
	for i := range m.Headers {
		h := &m.Headers[i]
		name := strings.ToLower(string(h.Name))
		switch absent := h.How() == conf.HeaderAbsent; {
		case name == "host":
		case absent && list == Deny:
			return fmt.Sprintf("denies by the absence of the header %s, which any client can send", name)
		case absent:
			return fmt.Sprintf("allows by the absence of the header %s, which any client can omit or remove with a Connection header", name)
		case list == Deny:
			return fmt.Sprintf("denies by the header %s, which any client can omit or remove with a Connection header", name)
		}
	}
	return ""
}
