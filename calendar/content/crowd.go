package content

// OtherGuests is the property with the number of attendees that a mailed event does not name.
const OtherGuests = "X-OTHER-GUESTS"
