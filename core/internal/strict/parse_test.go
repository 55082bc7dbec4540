package strict_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// These spellings are legal but rare.
func TestRareSpellings(t *testing.T) {
	for name, in := range map[string]string{
		"byte order mark":          "\ufeffname: fig\n",
		"byte order mark and JSON": "\ufeff{\n\t\"name\": \"fig\"\n}",
		"line ends of Windows":     "# comment\r\n---\r\nname: fig\r\n...\r\n",
		"quoted names":             "\"name\": fig\n",
		"block scalars":            "name: >-\n  fig\n",
		"comments only":            "# one\n---\n# two\n---\nname: fig\n---\n",
		"end markers":              "name: fig\n...\n...\n",
		"a document after an end":  "---\n# nothing\n...\nname: fig\n",
		"YAML 1.2":                 "# directive\n%YAML 1.2\n---\nname: fig\n",
		"JSON after a marker":      "---\n{\n\t\"name\": \"fig\"\n}\n...\n",
		"JSON with a comment":      "{\"name\": \"fig\"} # fruit\n",
		"flow style with quotes":   "{\"name\": fig}",
		"flow style, comma last":   "{\"name\": \"fig\",}",
		"UTF-16":                   "\xff\xfen\x00a\x00m\x00e\x00:\x00 \x00f\x00i\x00g\x00",
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := decode(t, in)
			if errs != "" || len(got) != 1 || got[0].Name != "fig" {
				t.Errorf("got %v %s", got, errs)
			}
		})
	}
}

// A document that cannot be parsed is reported at its position, and the other
// documents are decoded.
func TestSyntaxErrors(t *testing.T) {
	const badName = "\n---\nname: 1\n---\n"
	for name, c := range map[string]struct{ in, want string }{
		"YAML's scanner":        {"name: fig\nripe: \"\\q\"\n", "2:8: "},
		"YAML's scanner, later": {"# a\n\tname: fig\n", "2:1: "},
		"YAML's parser":         {"name: fig\nseeds:\n- 1\n- [2\n", "4:4: "},
		"in the second":         {"name: fig\n---\nseeds:\n- [2\n", "4:4: "},
		"after much else":       {"name: fig\ntags: {\n  a: b }\nseeds:\n  - 1\n  - 2\n - 3\n", "7:2: "},
		"after umlauts":         {"tags: {ä: ö}\nname: ä: b\n", "2:8: "},
		"unknown anchor":        {"name: fig\nseeds: [*seeds]\n", "2:9: "},
		"no character":          {"name: fig\nseeds: \"\ufffe\"", "2:9: "},
		"no UTF-8 in JSON":      {"{\"name\": \"\xff\"}", "1:11: "},
		"control character":     {"name: fig\nseeds: [\"ä\x00\"]", "2:11: "},
		"no UTF-8":              {"name: fig\nseeds: \xff", "2:8: "},
		"JSON":                  {"{\n\t\"name\": \"fig\",\n\t\"ripe\" true\n}\n", "3:9: "},
		"JSON after JSON":       {"{\"name\": \"ä\"} {\"name\" 1}", "1:23: "},
		"JSON with a comma":     {"{\"name\": \"fig\"}\n{\"ripe\": [true,]}", "2:16: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, c.in+badName+c.in)
			lines := strings.Split(got, "\n")
			var bad, others int
			for _, line := range lines {
				if strings.Contains(line, ": bad ") {
					bad++
				} else if strings.Contains(line, "name: must be a string, not the number 1") {
					others++
				}
			}
			if bad != 2 || others != 1 || !strings.HasPrefix(lines[0], "f.yaml:"+c.want) {
				t.Errorf("got\n%s\nwant two syntax errors, the first at %s, and one between them", got, c.want)
			}
		})
	}
}

// Every message is short.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	_, got := decode(t, `{"name": "fig", "colour": "`+long+`", "`+long+`": 1, "tags": {"`+long+`": 1}}`)
	if lines := strings.Count(got, "\n") + 1; lines != 3 || len(got) > 3000 {
		t.Errorf("got %d lines, %d bytes: %.2000s", lines, len(got), got)
	}
}

// In a text that is too long to be parsed again, an error has the position of
// the enclosing mapping or list.
func TestSyntaxErrorInLongText(t *testing.T) {
	long := strings.Repeat("  - 1\n", 20_000)
	for in, want := range map[string]string{
		"name: fig\nseeds:\n" + long + " - x\n":                            "20003:1",
		"# fruit\nname: fig\nseeds:\n" + long + " - x\n":                   "2:1",
		"name: fig\nseeds:\n" + long + "colour: \"\\q\"\n":                 "20003:1",
		"name: fig\nseeds:\n" + long + "tags: [\n" + long + "colour: \"\"": "20003:1",
	} {
		if _, got := decode(t, in); !strings.HasPrefix(got, "f.yaml:"+want+": bad YAML: ") {
			t.Errorf("got %s, want it at %s", got, want)
		}
	}
}

// Every error is one line that cannot change a terminal.
func TestOneLine(t *testing.T) {
	_, got := decode(t, "name: fig\nweight: \"a\\nb\\e[31m\"\n\"x\\ny\": 1\ntags: {\"q\\\"r\": 1, \"\": 1, \"\\ufeffa\": 1}\ncolour: \"\\n\"")
	want := `f.yaml:2:9: weight: must be a whole number, not the string "a\nb\x1b[31m"
f.yaml:3:1: ["x\ny"]: unknown field; one of "name", "colour", "weight", "ripe", "tags", "seeds", "pack", "size"
f.yaml:4:16: tags["q\"r"]: must be a string, not the number 1; write it in quotes: "1"
f.yaml:4:23: tags[""]: must be a string, not the number 1; write it in quotes: "1"
f.yaml:4:37: tags["\ufeffa"]: must be a string, not the number 1; write it in quotes: "1"
f.yaml:5:9: colour: unknown value "\n"; one of "red", "green"`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Columns count characters, in YAML and in JSON.
func TestColumns(t *testing.T) {
	for _, in := range []string{`{"tags": {"ä": "ö😀"}, "nme": 1}`, `{"tags": {"ä": "ö😀"}, nme : 1}`} {
		if _, got := decode(t, in); !strings.Contains(got, "f.yaml:1:23: nme: unknown field") {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

// Large mappings are read in linear time. Comparing each field with all
// previous fields would take minutes.
func TestManyFields(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: fig\ntags:\n")
	for i := range 30_000 {
		b.WriteString("  key")
		for _, digit := range []byte{byte(i / 10_000), byte(i / 1000 % 10), byte(i / 100 % 10), byte(i / 10 % 10), byte(i % 10)} {
			b.WriteByte('0' + digit)
		}
		b.WriteString(": a\n")
	}
	b.WriteString("  key00001: b\n")
	_, got := decode(t, b.String())
	if want := `f.yaml:30003:3: tags: duplicate field "key00001"; it is in line 4 already`; got != want {
		t.Errorf("got %.300s, want %s", got, want)
	}
}

// A small text that could become a tree beyond the limits is refused before the
// tree is made. So is a text whose aliases nest beyond them.
func TestLimitsOfTheTree(t *testing.T) {
	limits := strict.Limits{Bytes: 1 << 20, Depth: 10, Nodes: 100}
	long := "&a0 [x]"
	for i := range 5 {
		long += "\n- &a" + string(rune('1'+i)) + " [[[*a" + string(rune('0'+i)) + "]]]"
	}
	for name, c := range map[string]struct{ in, want string }{
		"list":                   {"seeds:\n" + strings.Repeat("- 1\n", 100), "1:1: the document is too large"},
		"fields":                 {"{" + strings.Repeat("a,", 100) + "b}", "1:1: the document is too large"},
		"JSON":                   {`{"seeds": [` + strings.Repeat("1,", 100) + "1]}", "has more than 100 values"},
		"aliases nest":           {"- " + long, "nested deeper than 10 levels"},
		"aliases add up":         {strings.Repeat("a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\nb: [*a, *a, *a]\n---\n", 4), "aliases add more than 100 values"},
		"short fields":           {strings.Repeat("a: b\n", 70), "has more than 100 values"},
		"aliases of a long text": {"- &a " + strings.Repeat("x", 100_000) + strings.Repeat("\n- *a", 60), "aliases add more than 4 MiB of text"},
	} {
		t.Run(name, func(t *testing.T) {
			var sink diag.Sink
			for range strict.Documents("f", strict.Chunks([]byte(c.in), 1)[0], limits, &sink) {
			}
			if err := sink.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Positions of many errors are found in linear time: if each searched its list
// from the beginning, this would take minutes.
func TestManyErrors(t *testing.T) {
	const n = 20_000
	text := `{"name": "fig", "seeds": [` + strings.Repeat(`"a", `, n) + `"z"], "tags": {` + strings.Repeat(`"a": 1, `, n) + `"z": 1}}`
	_, got := decode(t, text)
	lines := strings.Split(got, "\n")
	if len(lines) != n+1+n-1+2 {
		t.Fatalf("%d errors", len(lines))
	}
	if want := `f.yaml:1:100027: seeds[20000]: must be a whole number, not the string "z"`; lines[n] != want {
		t.Errorf("got %s, want %s", lines[n], want)
	}
	if want := `: tags.z: must be a string, not the number 1; write it in quotes: "1"`; !strings.HasSuffix(lines[len(lines)-1], want) {
		t.Errorf("got %s, want %s", lines[len(lines)-1], want)
	}
}
