-- Users are found by their mail address: by invitations, and when they sign in.
CREATE INDEX users_email ON users (lower(email));
