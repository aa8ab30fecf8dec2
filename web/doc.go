// Package web serves the HTML pages for people, below /account/ on the CalDAV door's port.
//
// A page is a row in a table ([Handler.pages]): its path, its audience, and a method that serves it. Everything works
// without scripts, except passkeys, which need them. No page loads anything from another host.
package web
