// Package requests describes which requests an inbound can receive, and which permissions
// decide them. Dataplanes share permissions, so these values are keys: what is equal is
// examined once.
package requests
