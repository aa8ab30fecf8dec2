// Package digest finds what there is to tell a user of their day: what is on tomorrow, and what assistants changed today.
package digest
