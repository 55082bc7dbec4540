package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

// confRows prints a conf field by field with the item that set it. The conf
// must have been explained.
func confRows(p *page, c *inspect.C) {
	if c == nil {
		p.line("no item selects it")
		return
	}
	data, err := resource.Marshal(c.Conf)
	var tree any
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		p.line("can not be shown: %v", err)
		return
	}
	if len(c.Fields) == 0 {
		p.line("{}  nothing is set")
		return
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Fields), inspect.ComparePointers) {
		origin := c.Fields[pointer]
		p.row(fieldTitle(pointer), valueText(inspect.Lookup(tree, pointer)), fmt.Sprintf("%s [%d]", origin.KRI, origin.Index))
	}
}

// fieldTitle is a JSON pointer with dots, as people write fields.
func fieldTitle(pointer string) string { return strings.ReplaceAll(pointer[1:], "/", ".") }

func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := resource.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// permissionRows prints the lists of a policy's rule, an entry a row, called as
// `access` does.
func permissionRows(p *page, rule int, c resource.Conf) {
	data, err := resource.Marshal(c)
	var lists map[string][]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &lists)
	}
	if err != nil {
		p.line("can not be shown: %v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for i, entry := range lists[name] {
			p.row(fmt.Sprintf("rules[%d].%s[%d]", rule, name, i), string(entry))
		}
	}
}
