//! A child's process group, which ends with the call: on time-out, on a drop, and also after an
//! ordinary end, so that nothing the program left behind runs on outside its permit.

use rustix::process::{Pid, Signal, kill_process_group};

/// The group of a child that was started as its leader. Dropping it kills the group at once.
///
/// The group's number cannot mean another group while the leader is not reaped or a member lives.
/// A reaped leader without members is at most a fraction of a second old when this is dropped, and
/// numbers are given out in a cycle that does not come round in that time.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn of(child: &tokio::process::Child) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self(number.and_then(Pid::from_raw).filter(|pid| !pid.is_init()))
    }

    pub(super) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    fn send(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // A group that is gone already is what was wanted.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.send(Signal::KILL);
    }
}
