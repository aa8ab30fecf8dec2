package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// pollStore holds polls and their people, in the tables polls and poll_people.
type pollStore struct{ *database }

var pollColumns = columns[calendar.Poll]{
	{"p.id", func(p *calendar.Poll) any { return &p.ID }},
	{"p.user_id", func(p *calendar.Poll) any { return &p.Owner }},
	{"p.link", func(p *calendar.Poll) any { return &p.Link }},
	{"p.state", func(p *calendar.Poll) any { return &p.State }},
	{"p.version", func(p *calendar.Poll) any { return &p.Version }},
	{"p.closes", func(p *calendar.Poll) any { return db.Seconds(&p.Closes) }},
	{"p.ends", func(p *calendar.Poll) any { return db.Seconds(&p.Ends) }},
	{"p.created", func(p *calendar.Poll) any { return db.Seconds(&p.Created) }},
	{"p.settings", func(p *calendar.Poll) any { return &p.Settings }},
	{"p.picked", func(p *calendar.Poll) any { return &p.Picked }},
	{"p.calendar_id", func(p *calendar.Poll) any { return &p.Calendar }},
	{"p.uid", func(p *calendar.Poll) any { return &p.UID }},
}

var pollPersonColumns = columns[calendar.PollPerson]{
	{"id", func(p *calendar.PollPerson) any { return &p.ID }},
	{"poll_id", func(p *calendar.PollPerson) any { return &p.Poll }},
	{"link", func(p *calendar.PollPerson) any { return &p.Link }},
	{"invited", func(p *calendar.PollPerson) any { return &p.Invited }},
	{"name", func(p *calendar.PollPerson) any { return &p.Name }},
	{"address", func(p *calendar.PollPerson) any { return &p.Address }},
	{"zone", func(p *calendar.PollPerson) any { return &p.Zone }},
	{"language", func(p *calendar.PollPerson) any { return &p.Language }},
	{"network", func(p *calendar.PollPerson) any { return &p.Network }},
	{"created", func(p *calendar.PollPerson) any { return db.Seconds(&p.Created) }},
	{"answers", func(p *calendar.PollPerson) any { return &p.Answers }},
	{"changes", func(p *calendar.PollPerson) any { return &p.Changes }},
	{"reminded", func(p *calendar.PollPerson) any { return db.Seconds(&p.Reminded) }},
	{"reminders", func(p *calendar.PollPerson) any { return &p.Reminders }},
}

var (
	selectPolls      = `SELECT ` + pollColumns.list() + ` FROM polls p `
	selectPollPeople = `SELECT ` + pollPersonColumns.list() + ` FROM poll_people `
)

// SavePoll implements [calendar.Polls].
func (s pollStore) SavePoll(
	ctx context.Context, p calendar.Poll, added []calendar.PollPerson, letters []calendar.Letter,
	most calendar.PollLimits, outbox calendar.OutboxLimits,
) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.postPoll(ctx, p, letters, outbox); err != nil {
			return err
		}
		if err := t.savePoll(ctx, p, most); err != nil {
			return err
		}
		for _, one := range added {
			if err := t.insertPollPerson(ctx, one); err != nil {
				return err
			}
		}
		return t.checkPollPeople(ctx, p.ID, most)
	})
}

// postPoll queues letters. It is the first step: a pick, too, locks the outbox before the poll.
func (t *transaction) postPoll(
	ctx context.Context, p calendar.Poll, letters []calendar.Letter, most calendar.OutboxLimits,
) error {
	if len(letters) == 0 {
		return nil
	}
	return schedulingTx{t}.Post(ctx, p.Owner, letters, most)
}

// savePoll writes the row of a poll.
func (t *transaction) savePoll(ctx context.Context, p calendar.Poll, most calendar.PollLimits) error {
	if p.Version > 0 {
		return stalePoll(t.Exec(ctx, `UPDATE polls SET state = $3, version = version + 1, closes = $4, ends = $5,
			settings = $6 WHERE id = $1 AND version = $2 AND state = 'open'`, p.ID, p.Version, p.State,
			p.Closes.Unix(), p.Ends.Unix(), bytesOf(p.Settings)))
	}
	// Two requests must not both find the last place free.
	_, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM users WHERE id = $1`+t.Of().LockRows, p.Owner)
	if err != nil {
		return err
	}
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM polls WHERE user_id = $1`, p.Owner)
	if err != nil {
		return err
	}
	if n >= most.Polls {
		return calendar.Errorf(calendar.TooLarge, "", "a user may have at most %d polls", most.Polls)
	}
	return t.Run(ctx, `INSERT INTO polls (id, user_id, link, state, version, closes, ends, created, settings, picked,
		calendar_id, uid) VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, 0, '', '')`, p.ID, p.Owner, p.Link, p.State,
		p.Closes.Unix(), p.Ends.Unix(), p.Created.Unix(), bytesOf(p.Settings))
}

// stalePoll returns the error of an UPDATE that must have changed a row.
func stalePoll(n int64, err error) error {
	if err == nil && n == 0 {
		err = calendar.Errorf(calendar.Stale, "", "the poll or the answer was changed meanwhile")
	}
	return err
}

func (t *transaction) insertPollPerson(ctx context.Context, p calendar.PollPerson) error {
	return t.Run(ctx, `INSERT INTO poll_people (id, poll_id, link, invited, name, address, zone, network, created,
		answers, changes, reminded, reminders, language)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, $12)`,
		p.ID, p.Poll, p.Link, p.Invited, p.Name, p.Address, p.Zone, p.Network, p.Created.Unix(), bytesOf(p.Answers),
		p.Changes, p.Language)
}

// checkPollPeople refuses too many people of a poll. The row of the poll is locked.
func (t *transaction) checkPollPeople(ctx context.Context, id calendar.PollID, most calendar.PollLimits) error {
	for _, limit := range []struct {
		most int64
		text string
	}{{most.People, ``}, {most.Invited, ` AND invited`}} {
		n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM poll_people WHERE poll_id = $1`+limit.text, id)
		if err != nil {
			return err
		}
		if n > limit.most {
			return calendar.Errorf(calendar.TooLarge, "", "a poll may have at most %d people", limit.most)
		}
	}
	return nil
}

// DeletePoll implements [calendar.Polls].
func (s pollStore) DeletePoll(ctx context.Context, owner calendar.UserID, id calendar.PollID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM polls WHERE id = $1 AND user_id = $2`, id, owner))
}

// DeletePollPerson implements [calendar.Polls].
func (s pollStore) DeletePollPerson(
	ctx context.Context, id calendar.PollID, person calendar.PollPersonID,
) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM poll_people WHERE id = $1 AND poll_id = $2`, person, id))
}

// Polls implements [calendar.Polls].
func (s pollStore) Polls(ctx context.Context, owner calendar.UserID) ([]calendar.Poll, error) {
	return db.RowsOf(ctx, s.db.Reads, pollColumns.scan, selectPolls+`WHERE p.user_id = $1
		ORDER BY p.created DESC, p.id`, owner)
}

// Poll implements [calendar.Polls].
func (s pollStore) Poll(ctx context.Context, id calendar.PollID) (calendar.Poll, error) {
	return db.RowOf(ctx, s.db.Reads, pollColumns.scan, selectPolls+`WHERE p.id = $1`, id)
}

// PollByLink implements [calendar.Polls].
func (s pollStore) PollByLink(ctx context.Context, link string) (calendar.Poll, error) {
	return db.RowOf(ctx, s.db.Reads, pollColumns.scan, selectPolls+`WHERE p.link = $1`, link)
}

// PollPeople implements [calendar.Polls].
func (s pollStore) PollPeople(ctx context.Context, id calendar.PollID) ([]calendar.PollPerson, error) {
	return db.RowsOf(ctx, s.db.Reads, pollPersonColumns.scan, selectPollPeople+`WHERE poll_id = $1
		ORDER BY created, id`, id)
}

// PollPerson implements [calendar.Polls].
func (s pollStore) PollPerson(ctx context.Context, id calendar.PollPersonID) (calendar.PollPerson, error) {
	return db.RowOf(ctx, s.db.Reads, pollPersonColumns.scan, selectPollPeople+`WHERE id = $1`, id)
}

// PollPersonByLink implements [calendar.Polls].
func (s pollStore) PollPersonByLink(ctx context.Context, link string) (calendar.PollPerson, error) {
	return db.RowOf(ctx, s.db.Reads, pollPersonColumns.scan, selectPollPeople+`WHERE link = $1`, link)
}

// lockPoll locks the row of a poll that takes answers.
func (t *transaction) lockPoll(ctx context.Context, id calendar.PollID, now time.Time) error {
	n, err := db.RowsOf(ctx, t, db.ScanText, `SELECT id FROM polls WHERE id = $1 AND state = 'open'
		AND closes > $2`+t.Of().LockRows, id, now.Unix())
	return stalePoll(int64(len(n)), err)
}

// AddPollAnswer implements [calendar.Polls].
func (s pollStore) AddPollAnswer(
	ctx context.Context, p calendar.PollPerson, most calendar.PollLimits,
) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.lockPoll(ctx, p.Poll, p.Created); err != nil {
			return err
		}
		n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM poll_people WHERE network = $1
			AND created > $2`, p.Network, p.Created.Add(-time.Hour).Unix())
		if err != nil {
			return err
		}
		if n >= most.Network {
			return calendar.Errorf(calendar.TooLarge, "", "too many answers; try again later")
		}
		if err := t.insertPollPerson(ctx, p); err != nil {
			return err
		}
		return t.checkPollPeople(ctx, p.Poll, most)
	})
}

// UpdatePollAnswer implements [calendar.Polls].
func (s pollStore) UpdatePollAnswer(
	ctx context.Context, p calendar.PollPerson, now time.Time, most calendar.PollLimits,
) error {
	if p.Changes >= most.Changes {
		return calendar.Errorf(calendar.TooLarge, "", "the answers were changed too often")
	}
	return s.transact(ctx, func(t *transaction) error {
		if err := t.lockPoll(ctx, p.Poll, now); err != nil {
			return err
		}
		return stalePoll(t.Exec(ctx, `UPDATE poll_people SET zone = $3, answers = $4, language = $5,
			changes = changes + 1 WHERE id = $1 AND changes = $2`, p.ID, p.Changes, p.Zone, bytesOf(p.Answers),
			p.Language))
	})
}

// RemindPoll implements [calendar.Polls].
func (s pollStore) RemindPoll(
	ctx context.Context, p calendar.Poll, people []calendar.PollPerson, letters []calendar.Letter, now time.Time,
	most calendar.OutboxLimits,
) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.postPoll(ctx, p, letters, most); err != nil {
			return err
		}
		if err := t.lockPoll(ctx, p.ID, now); err != nil {
			return err
		}
		for _, one := range people {
			err := stalePoll(t.Exec(ctx, `UPDATE poll_people SET reminded = $2, reminders = reminders + 1
				WHERE id = $1 AND reminders = $3`, one.ID, now.Unix(), one.Reminders))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// prunePolls deletes polls that have ended; each has its own time.
func (s pollStore) prunePolls(ctx context.Context, _ time.Time) error {
	return s.run(ctx, `DELETE FROM polls WHERE ends <= $1`, s.now())
}

// PickPoll implements [calendar.PollKeeper].
func (t *transaction) PickPoll(ctx context.Context, p calendar.Poll) error {
	return stalePoll(t.Exec(ctx, `UPDATE polls SET state = $3, version = version + 1, ends = $4, picked = $5,
		calendar_id = $6, uid = $7 WHERE id = $1 AND version = $2 AND state = 'open'`, p.ID, p.Version, p.State,
		p.Ends.Unix(), p.Picked, p.Calendar, p.UID))
}
