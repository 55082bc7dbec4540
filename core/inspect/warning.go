package inspect

import "github.com/meshmatch/meshmatch/core/strict"

// Warning is something that is valid and has no effect, or another one than it
// seems.
type Warning struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// String returns file:line:column: path: message, as errors are printed.
func (w Warning) String() string {
	d := strict.Diagnostic{Pos: strict.Position{File: w.File, Line: w.Line, Column: w.Column}, Path: w.Path, What: w.Message}
	return d.Error()
}

func newWarnings(diagnostics []strict.Diagnostic) []Warning {
	warnings := make([]Warning, len(diagnostics))
	for i, d := range diagnostics {
		warnings[i] = Warning{d.Pos.File, d.Pos.Line, d.Pos.Column, d.Path, d.Message()}
	}
	return warnings
}
