// Package webhook gives documents of files the labels that a control plane of Kuma computes when
// it stores them (SPEC 17.2). So a file and its stored object are one resource.
//
//  1. [NewControlPlane] finds the control plane of a world by what it has stored there.
//  2. [ControlPlane.Store] labels the documents that have no label of their origin, and gives
//     one of another control plane the name of its copy.
package webhook
