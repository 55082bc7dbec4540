package xds

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/results"
)

// Diagnostic returns the warning with its position in a file.
func (w Warning) Diagnostic() diag.Diagnostic {
	if w.Policy == nil {
		return diag.Diagnostic{Code: w.Code, What: w.Place + ": " + w.Message}
	}
	at := items.ItemPlace{Origin: results.Origin{Policy: w.Policy, Index: w.Index}, Array: w.array}
	pos, path := at.Field(w.Field)
	return diag.Diagnostic{Code: w.Code, Pos: pos, Path: path, What: fmt.Sprintf("%s (%s)", w.Message, w.Place)}
}
