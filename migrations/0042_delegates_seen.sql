-- The user for whom a delegate made a change; empty if the author made it for themselves.
ALTER TABLE journal ADD COLUMN acting_for TEXT NOT NULL DEFAULT '';

-- Whether the user's delegates do not see the calendar, because it is a subscription.
ALTER TABLE home_members ADD COLUMN private BOOLEAN NOT NULL DEFAULT FALSE;

-- Whether the grant may use the calendars of users who appointed its user as their delegate.
ALTER TABLE oauth_offers ADD COLUMN for_others BOOLEAN NOT NULL DEFAULT FALSE;
