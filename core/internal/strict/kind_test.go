package strict

import "testing"

// The core schema of YAML 1.2, section 10.3.2.
func TestPlainKind(t *testing.T) {
	for kind, texts := range map[Kind][]string{
		Null: {"", "~", "null", "Null", "NULL"},
		Bool: {"true", "True", "TRUE", "false", "False", "FALSE"},
		Int:  {"0", "7", "-7", "+7", "017", "0o17", "0x1F", "0xaB", "00", "12345678901234567890"},
		Float: {
			"1.", "1.5", ".5", "-.5", "+1.5", "1e3", "1E3", "1e+3", "1.5e-3", ".5e0", "0.", "-0.0",
			".inf", "-.Inf", "+.INF", ".nan", ".NaN", ".NAN",
		},
		String: {
			"nULL", "none", "n", "tRUE", "yes", "Yes", "no", "on", "off", "y", "t",
			"0b11", "1_000", "0o18", "0o", "0x", "0xG", "-0x10", "+0o7", "0O17", "0X1F",
			".", "-", "+", "e3", ".e3", "1e", "1e+", "1.5.2", "1-2", "--1", "+-1", "1 ", "10.0.0.1", "190:20:30",
			"-.nan", "inf", ".iNF", "NaN", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "<<", "=", "a", "ä",
		},
	} {
		for _, text := range texts {
			if got := plainKind(text); got != kind {
				t.Errorf("%q has kind %d, want %d", text, got, kind)
			}
		}
	}
}

func TestParseNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"7": 7, "-7": -7, "+7": 7, "017": 17, "0o17": 15, "0x1F": 31, "1.5e3": 1500, ".5": .5, "-1.": -1,
	} {
		if got, err := parseFloat(text, 64); err != nil || got != want {
			t.Errorf("%s: float %v %v, want %v", text, got, err, want)
		}
		if plainKind(text) != Int {
			continue
		}
		if got, err := parseInt(text, 64); err != nil || float64(got) != want {
			t.Errorf("%s: integer %v %v, want %v", text, got, err, want)
		}
		if got, err := parseUint(text, 8); want >= 0 && (err != nil || float64(got) != want) {
			t.Errorf("%s: natural %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"256", "-1", "0x100"} {
		if got, err := parseUint(text, 8); err == nil {
			t.Errorf("%s is no error but %d", text, got)
		}
	}
}
