// Package edit changes calendar objects in users' terms: a title, a time, one instance of a series or all following
// ones. Parts that the edit does not change keep their bytes and their place.
package edit
