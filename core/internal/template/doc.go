// Package template parses templates of names: texts with variables in the syntax of Go's
// templates.
package template
