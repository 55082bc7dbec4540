package server

import "strings"

// maxLogged limits the text of a client in one line of the log (SPEC 12.3). An id takes at
// most a third of that, so that the line has room for its subject.
const (
	maxLogged   = 1 << 10
	maxLoggedID = maxLogged / 3
)

// clip shortens the text of a client for the log.
func clip(text string, limit int) string {
	const mark = "..."
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
}
