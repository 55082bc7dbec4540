// Package shapes has a type for every shape that a conf can have, with the
// generated code, which its tests compare with an independent merge over JSON.
package shapes

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
