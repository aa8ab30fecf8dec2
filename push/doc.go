// Package push notifies devices (WebDAV-Push) and other servers (webhooks) of committed changes. It also sends the
// notifications that package remind queues for browsers.
//
// A message is due when a calendar's version differs from the last notified version in the store. A change therefore
// costs nothing here, and a crash loses nothing. One process at a time sends, under a lease. Every message is
// authorized again when it is sent.
package push
