// Package progress shows the current step of long work in one line of a terminal.
//
// It writes nothing if its output is not a terminal. It does not depend on the work.
package progress
