// Package resourcetest decodes the documents of tests.
package resourcetest
