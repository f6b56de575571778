//! What a word of a seat makes of it, and what it then is at a moment. Pure.

use super::{
    Beat, LONGEST_STATUS, LONGEST_TEXT, REPORT_S, Record, Report, SECOND, Seat, Source, State,
    TTL_S,
};
use crate::store::{Error, Moment};

impl Report {
    /// Whether it is within bounds.
    pub(super) fn check(&self) -> Result<(), Error> {
        let texts = [
            ("model", &self.model),
            ("session_id", &self.session_id),
            ("host", &self.host),
            ("login", &self.login),
        ];
        texts.into_iter().try_for_each(|(name, text)| check(name, text))?;
        let length = serde_json::to_string(&self.status).map_or(0, |text| text.chars().count());
        if length > LONGEST_STATUS {
            return Err(Error::TooLarge(format!(
                "`status` has {length} characters as JSON, and {LONGEST_STATUS} is the most: report less of it"
            )));
        }
        Ok(())
    }

    /// The seat after this report.
    pub(super) fn upon(&self, old: Option<&Record>, now: Moment) -> Record {
        let mut new = Record {
            locus: self.locus.clone(),
            seat: self.seat,
            alive: self.alive,
            crashed: self.crashed && !self.alive,
            pid: self.pid,
            age_s: self.age_s,
            model: self.model.clone(),
            session_id: self.session_id.clone(),
            auth_ok: self.auth_ok,
            host: self.host.clone(),
            login: self.login.clone(),
            status: self.status.clone(),
            started: self.started.or_else(|| old.and_then(|old| old.started)),
            source: Source::Report,
            reported: now.wall,
            heard: now.lease,
            lease_id: String::new(),
            ttl_s: 0,
            heartbeat_at: 0,
            beat: 0,
            until: now.lease + REPORT_S * SECOND,
            lapsed: false,
        };
        if let Some(old) = old.filter(|old| !self.is_of_another_life(old)) {
            new.lease_id.clone_from(&old.lease_id);
            (new.ttl_s, new.heartbeat_at, new.beat) = (old.ttl_s, old.heartbeat_at, old.beat);
            if self.alive && old.ttl_s > 0 {
                // A bystander does not stand in for the heartbeat that was promised.
                (new.until, new.lapsed) = (old.until, old.lapsed);
            }
        }
        new
    }

    /// Whether it tells of another process or session in the seat, or of one after an end: the
    /// heartbeats of the one before are none of its.
    fn is_of_another_life(&self, old: &Record) -> bool {
        let is_new = |old: &str, new: &str| !old.is_empty() && !new.is_empty() && old != new;
        let is_other = old.pid.zip(self.pid).is_some_and(|(old, new)| old != new);
        is_other || is_new(&old.session_id, &self.session_id) || (self.alive && !old.alive)
    }
}

impl Beat {
    /// Whether it is within bounds.
    pub(super) fn check(&self) -> Result<(), Error> {
        check("lease_id", &self.lease_id)
    }

    /// The seat after this heartbeat; `minted` is a lease's name where there is none.
    pub(super) fn upon(&self, old: Option<&Record>, now: Moment, minted: &str) -> Record {
        let (least, usual, most) = TTL_S;
        let ttl_s = self.ttl_s.unwrap_or(usual).clamp(least, most);
        let mut new = old.cloned().unwrap_or_else(|| Record {
            locus: self.locus.clone(),
            seat: self.seat,
            alive: true,
            crashed: false,
            pid: None,
            age_s: 0,
            model: String::new(),
            session_id: String::new(),
            auth_ok: None,
            host: String::new(),
            login: String::new(),
            status: serde_json::Map::new(),
            started: None,
            source: Source::Heartbeat,
            reported: now.wall,
            heard: now.lease,
            lease_id: String::new(),
            ttl_s,
            heartbeat_at: now.wall,
            beat: now.lease,
            until: now.lease,
            lapsed: false,
        });
        if !self.lease_id.is_empty() {
            new.lease_id.clone_from(&self.lease_id);
        } else if new.lease_id.is_empty() {
            minted.clone_into(&mut new.lease_id);
        }
        new.pid = self.pid.or(new.pid);
        (new.alive, new.crashed, new.lapsed) = (true, false, false);
        (new.source, new.reported, new.heard) = (Source::Heartbeat, now.wall, now.lease);
        (new.ttl_s, new.heartbeat_at, new.beat) = (ttl_s, now.wall, now.lease);
        new.until = now.lease + ttl_s * SECOND;
        new
    }
}

fn check(name: &str, text: &str) -> Result<(), Error> {
    if text.chars().count() > LONGEST_TEXT {
        let words = format!("`{name}` has more than {LONGEST_TEXT} characters: shorten it");
        return Err(Error::TooLarge(words));
    }
    match text.chars().find(|c| c.is_control()) {
        Some(odd) => Err(Error::Invalid(format!(
            "`{name}` holds the control character U+{:04X}: leave it out",
            u32::from(odd)
        ))),
        None => Ok(()),
    }
}

impl Record {
    /// The seat as it stands at that moment of the time of leases.
    pub(super) fn at(self, lease: i64) -> Seat {
        let counts = lease < self.until;
        let state = match (self.alive, counts, self.crashed) {
            (true, true, _) => State::Running,
            (true, false, _) => State::Unknown,
            (false, _, true) => State::Crashed,
            (false, _, false) => State::Stopped,
        };
        let ago = |then: i64| (lease - then).max(0) / SECOND;
        let lease_expired = self.ttl_s > 0 && lease >= self.beat + self.ttl_s * SECOND;
        let is_promised = self.ttl_s > 0 && !lease_expired;
        Seat {
            state,
            stale: !is_promised && lease >= self.heard + REPORT_S * SECOND,
            reported_ago_s: ago(self.heard),
            heartbeat_ago_s: (self.heartbeat_at > 0).then(|| ago(self.beat)),
            lease_expired,
            record: self,
        }
    }

    /// Whether a reader would see another seat, times and ages aside.
    pub(super) fn differs(&self, old: &Self, lease: i64) -> bool {
        let bare = |record: &Self| Self {
            age_s: 0,
            source: Source::Report,
            reported: 0,
            heard: 0,
            heartbeat_at: i64::from(record.heartbeat_at > 0),
            beat: 0,
            until: i64::from(lease < record.until),
            lapsed: false,
            ..record.clone()
        };
        bare(self) != bare(old)
    }
}
