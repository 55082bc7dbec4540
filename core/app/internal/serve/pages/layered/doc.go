// Package layered arranges a directed graph in layers, from left to right, for a picture.
//
//  1. Edges that close a cycle are reversed, so that every edge leads to a later layer
//     (acyclic.go). They are drawn in their own direction.
//  2. Each node gets the layer after the last of its predecessors.
//  3. An edge that passes layers gets a bend in each of them. Edges of one node share their
//     bends, so they are one line until they part.
//  4. The nodes and bends of each layer are put in the order of the medians of their
//     neighbours, forwards and backwards, and neighbours are swapped while that removes
//     crossings (order.go).
//  5. Nodes get coordinates: as near to the middle of their neighbours as the order allows
//     (place.go).
//
// The same graph gives the same picture.
package layered
