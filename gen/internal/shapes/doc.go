// Package shapes contains a type for every shape of conf, with the generated code. Its
// tests compare this code with an independent merge over JSON.
package shapes

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
