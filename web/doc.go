// Package web is the door for people: pages that a browser shows, below /account/ on the CalDAV door's port.
//
// A page is a row in a table ([Handler.pages]): its path, its audience, and a function over a [visit]. Everything
// works without scripts but passkeys, which are made of them. Nothing is asked of any other host.
package web
