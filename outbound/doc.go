// Package outbound sends requests to addresses that users or clients supply.
//
// Such an address can make the server act for a stranger: on an internal host that trusts the network, on the server
// itself, or with a response larger than memory. All such requests therefore use this one client: HTTPS only, by host
// name only, to public addresses only, and within the caller's limits of time and size.
package outbound
