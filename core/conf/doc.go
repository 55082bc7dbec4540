// Package conf holds the field types that the Confs of several policy kinds
// share: durations, numbers with bounds, addresses, headers, tags, request
// matches and references to backends.
//
// A policy kind is a package in core/kind, such as meshtimeout, or an embedder's.
// It may use these types and no other kind's, and has
//
//  1. the Conf types, whose shape defines what may be written and how it
//     merges (packages strict and gen);
//  2. what confgen generates from them;
//  3. Validate methods for conditions beyond the shape; they report at the field
//     that is wrong;
//  4. Kind, which describes the kind to the rest of the program.
//
// Packages fuzz (CheckKind) and kindtest have the tests of a kind; package kinds is
// the list of the built-in ones.
//
// Every type here checks itself while it is decoded, prints as the JSON that
// it was read from in its shortest form, and is never written to after
// decoding.
package conf
