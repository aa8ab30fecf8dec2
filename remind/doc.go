// Package remind notifies users without an app: of due reminders, invitations, new shares, and changes by others.
//
// It keeps the next reminder of each object for each user who wants them. A change of a calendar writes nothing for it:
// like a device, a plan follows the calendar's versions. Notifications are queued: package push sends them to browsers,
// and package mail sends the others.
package remind
