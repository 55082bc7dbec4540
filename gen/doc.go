// Package gen
package gen
