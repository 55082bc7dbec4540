// Meshmatch reports which policies select a proxy, in which order, and what the
// merged result is. See `meshmatch --help`.
package main
