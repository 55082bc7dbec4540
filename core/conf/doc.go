// Package conf holds the field types that the Confs of several policy kinds
// share: durations, numbers that may be text, headers, request matches and
// references to backends. A policy kind is a package below this one
// (core/conf/meshtimeout, ...); it may use these types and no other kind's.
//
// Every type here checks itself while it is decoded (package strict), prints
// as the JSON that it was read from in its shortest form, and is never
// written to after decoding.
package conf
