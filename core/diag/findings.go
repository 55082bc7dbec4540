package diag

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// page is the page of all findings. It is where the definitions are written: a table gives
// class and title of each code, and a section below it the rest. A new finding needs a
// constant in codes.go, a row and a section.
//
//go:embed FINDINGS.md
var page string

// definitions returns the definitions of all codes, in the order of the codes.
var definitions = sync.OnceValue(func() []*Definition { return parsePage(page) })

// parsePage reads a page of findings. A test compares the page with what is printed from
// the definitions, so a part that is not read is found there.
func parsePage(page string) []*Definition {
	table, sections, _ := strings.Cut(page, "\n\n## ")
	var list []*Definition
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		code, isCode := strings.CutPrefix(cells[0], "| [MM")
		if !isCode || len(cells) != 3 {
			continue
		}
		list = append(list, &Definition{
			Code: parseDigits(code[:4]), Class: Class(cells[1]), Title: strings.TrimSuffix(strings.TrimSpace(cells[2]), " |"),
		})
	}
	for section := range strings.SplitSeq(sections, "\n\n## MM") {
		parseSection(list, strings.TrimPrefix(section, "MM"))
	}
	return list
}

// parseSection fills in the definition of the code with which a section begins.
func parseSection(list []*Definition, section string) {
	heading, text, _ := strings.Cut(section, "\n\n")
	i, known := slices.BinarySearchFunc(list, parseDigits(heading), compareCode)
	if !known {
		panic("diag: the table of FINDINGS.md lacks MM" + heading)
	}
	d := list[i]
	text, mend, _ := strings.Cut(text, "\n\nFix: ")
	means, example, _ := strings.Cut(text, "\n\nExample")
	_, means, _ = strings.Cut(means, " ("+string(d.Class))
	means, d.Serve = strings.CutPrefix(means, ", data plane")
	d.Means = strings.TrimPrefix(means, "). ")
	d.Mend = strings.TrimSuffix(mend, "\n")
	when, isWhen := strings.CutPrefix(example, ": ")
	if isWhen {
		d.When = when
		return
	}
	command, documents, _ := strings.Cut(example, "`:\n\n```yaml\n")
	d.Example = strings.TrimSuffix(documents, "```")
	d.TLS = strings.Contains(command, "tls")
	_, d.Semantics, _ = strings.Cut(command, "semantics ")
}
