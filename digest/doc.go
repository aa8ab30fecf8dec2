// Package digest composes a user's daily mail: tomorrow's events, and today's changes by assistants.
package digest
