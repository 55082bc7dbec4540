package laws

import (
	"encoding/json"
	"fmt"
	"strings"
)

// render prints confs for a message.
func render[T any](confs []*T) string {
	var b strings.Builder
	for i, c := range confs {
		fmt.Fprintf(&b, "%4d %s\n", i, renderOne(c))
	}
	return b.String()
}

func renderOne(c any) string {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Sprintf("%+v", c)
	}
	return string(text)
}
