// Package message makes the messages of Envoy, and resources of them.
//
// The package does not know policies, dataplanes or snapshots.
package message
