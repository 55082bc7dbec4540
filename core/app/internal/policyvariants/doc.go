// Package policyvariants compiles the policies of a kind to variants for the outbounds to one service, and counts the
// dataplanes that each variant serves (SPEC 9.4). It is what `variants policies` and the Inspect API answer.
package policyvariants
