// Package edit changes calendar objects as people mean it: a title, a time, one instance of a
// series or all that follow. Parts that are not asked for keep their bytes and their place.
package edit
