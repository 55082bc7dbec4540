package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
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
	data, err := json.Marshal(c.Conf)
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
		p.row(strings.ReplaceAll(pointer[1:], "/", "."), valueText(inspect.Lookup(tree, pointer)), fmt.Sprintf("%s [%d]", origin.KRI, origin.Index))
	}
}

func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// matchTitle is a match in one line.
func matchTitle(m *conf.Match) string {
	if m.Empty() {
		return "any request"
	}
	var parts []string
	if m.SpiffeID != nil {
		parts = append(parts, fmt.Sprintf("spiffeId %s %s", strings.ToLower(string(m.SpiffeID.Type)), m.SpiffeID.Value))
	}
	if m.SNI != nil {
		parts = append(parts, "sni "+string(*m.SNI))
	}
	if m.Path != nil {
		parts = append(parts, fmt.Sprintf("path %s %s", strings.ToLower(string(m.Path.Type)), m.Path.Value))
	}
	if m.Method != nil {
		parts = append(parts, "method "+string(*m.Method))
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		part := fmt.Sprintf("header %s %s", h.Name, strings.ToLower(string(h.How())))
		if h.Value != nil {
			part += " " + *h.Value
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// permissionRows prints the lists of an unmerged rule, an entry a row.
func permissionRows(p *page, c resource.Conf) {
	data, err := json.Marshal(c)
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
			p.row(fmt.Sprintf("%s[%d]", name, i), string(entry))
		}
	}
}
