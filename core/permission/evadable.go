package permission

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// evadable returns the reason why any client can evade or meet an entry of a list by the
// headers that it sends, or "" if no client can (SPEC 7.2). If a client omits a header, or
// names it in Connection, an allow entry with Absent allows it, and a deny entry for the header
// does not deny it. No client can omit the host.
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
