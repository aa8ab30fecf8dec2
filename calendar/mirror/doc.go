// Package mirror keeps calendars that live elsewhere: what is new there comes here, what is written here goes there
// first. It knows no protocol: what speaks to an account is a [Source].
package mirror
