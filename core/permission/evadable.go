package permission

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// evadable returns why any client can evade an entry of a list, or meet it, by the headers that
// it sends; "" if it cannot (SPEC 7.2). A client that leaves a header out, or names it
// in Connection, is allowed by an entry with Absent, and not denied by an entry on the
// header. No client can leave out the host.
func evadable(list List, m *conf.Match) string {
	for i := range m.Headers {
		h := &m.Headers[i]
		name := strings.ToLower(string(h.Name))
		switch absent := h.How() == conf.HeaderAbsent; {
		case name == "host":
		case absent && list == Deny:
			return fmt.Sprintf("denies by the absence of the header %s, which any client can send", name)
		case absent:
			return fmt.Sprintf("allows by the absence of the header %s, which any client can leave out or take away by Connection", name)
		case list == Deny:
			return fmt.Sprintf("denies by the header %s, which any client can leave out or take away by Connection", name)
		}
	}
	return ""
}
