// Package edit changes calendar objects as people mean it: a title, a time, one instance of a
// series or all that follow. What is not asked for keeps its bytes and its place.
package edit
