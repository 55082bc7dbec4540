// Package conf contains the field types that the Confs of several policy kinds
// share: durations, numbers with bounds, addresses, headers, tags, request
// matches and references to backends.
//
// A policy kind is a package in core/kind, such as meshtimeout, or an embedder's.
// It may use these types, but not the types of another kind. It contains
//
//  1. the Conf types, whose shape defines the syntax and the merge (packages
//     strict and gen);
//  2. the code that confgen generates from them;
//  3. Validate methods for further conditions, which report errors at the wrong
//     field;
//  4. Kind, which returns the description of the kind for other packages.
//
// Packages fuzz (CheckKind) and kindtest contain tests for any kind; package kinds
// lists the built-in kinds.
//
// Every type here is validated while it is decoded and never changed afterwards. It is
// marshalled as the shortest form of the JSON from which it was read.
package conf

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
