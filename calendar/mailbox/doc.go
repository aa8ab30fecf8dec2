// Package mailbox lets programs read the mail that people have elsewhere: whose it is, who may, how often, and what becomes of an
// account that lets nobody in any more. It knows no protocol, and keeps no mail: what speaks to an account is a [Source].
package mailbox
