// Package conf contains the field types that the Confs of several policy kinds
// share: durations, numbers with bounds, addresses, headers, tags, request
// matches and references to backends.
//
// A policy kind is a package in core/kind, such as meshtimeout, or an embedder's.
// It may use these types but not those of another kind, and contains
//
//  1. the Conf types, whose shape defines what can be written and how it
//     merges (packages strict and gen);
//  2. the code that confgen generates from them;
//  3. Validate methods for further conditions, which report errors at the field that
//     is wrong;
//  4. Kind, which returns the description of the kind for other packages.
//
// Packages fuzz (CheckKind) and kindtest contain tests for any kind; package kinds is
// the list of the built-in ones.
//
// Every type here is validated while it is decoded, is marshalled as the shortest form
// of the JSON from which it was read, and is never changed after decoding.
package conf
