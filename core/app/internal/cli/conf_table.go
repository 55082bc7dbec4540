package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/conf"
)

// confRows prints a conf field by field with the item that set it. The conf
// must have its fields.
func confRows(p *page, c *inspect.EffectiveConf) {
	if c == nil {
		p.line("no item selects it")
		return
	}
	data, err := conf.Marshal(c.Conf)
	var tree any
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		p.line("cannot be shown: %v", err)
		return
	}
	if len(c.Fields) == 0 {
		p.line("{}  nothing is set")
		return
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Fields), inspect.ComparePointers) {
		origin := c.Fields[pointer]
		reason := p.reason(origin.KRI, origin.Item, origin.Source)
		if origin.NoEffect != "" {
			reason += "; no effect: " + origin.NoEffect
		}
		p.row(fieldName(pointer), valueText(inspect.Lookup(tree, pointer)), reason)
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Collectors), inspect.ComparePointers) {
		p.row("collector", c.Collectors[pointer].String(), "by "+fieldName(pointer))
	}
}

// fieldName returns a JSON pointer in the form of a path, such as
// http.requestTimeout.
func fieldName(pointer string) string { return strings.ReplaceAll(pointer[1:], "/", ".") }

func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return shortJSON(v)
}

// shortJSON returns the JSON of a value in one line.
func shortJSON(v any) string {
	data, err := conf.Marshal(v)
	if err != nil {
		return "cannot be shown: " + err.Error()
	}
	return string(data)
}

// permissionRows prints the lists of a rule that is not merged, one entry a row.
func permissionRows(p *page, r *inspect.Permission) {
	data, err := conf.Marshal(r.Conf)
	var lists map[string][]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &lists)
	}
	if err != nil {
		p.line("cannot be shown: %v", err)
		return
	}
	p.heading(2, "%s", p.reason(r.KRI, r.Item, r.Source))
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for i, entry := range lists[name] {
			p.row(fmt.Sprintf("%s[%d]", name, i), string(entry))
		}
	}
}
