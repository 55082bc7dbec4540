// Package patches tests by the traffic of a real Envoy that no MeshProxyPatch lets a
// request pass that permissions deny, unless it is refused (SPEC 11.5).
//
//  1. ingredients_test.go has modifications: some that are harmless, and some that open an
//     inbound, each in a way of its own.
//  2. Each ingredient is tried alone: ingredients that open an inbound must do so in Envoy,
//     and must be refused; the harmless ones must be neither.
//  3. Random mixtures of ingredients are tried: a mixture that is not refused must deny
//     all that was denied before.
package patches
