use super::*;

const LIMITS: Limits = Limits {
    max_jobs: 2,
    max_churn: 1,
    max_history: 20,
    health_threshold: Duration::from_secs(120),
};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
}

fn started(orders: &[Order]) -> Vec<&str> {
    let starts = orders.iter().filter_map(|order| match order {
        Order::Start { id, .. } => Some(id.as_str()),
        Order::Stop { .. } => None,
    });
    starts.collect()
}

fn stopped(orders: &[Order]) -> Vec<&str> {
    let stops = orders.iter().filter_map(|order| match order {
        Order::Stop { id, .. } => Some(id.as_str()),
        Order::Start { .. } => None,
    });
    stops.collect()
}

fn crash(scheduler: &mut Scheduler<()>, id: &str, seconds: u64) -> Vec<Order> {
    let run = scheduler.job(id).unwrap().run().unwrap();
    scheduler.ended(id, run, Some("x".to_owned()), &LIMITS, at(seconds))
}

#[test]
fn the_back_off_doubles_with_every_crash() {
    let mut scheduler = Scheduler::default();
    let mut now = 0;
    scheduler.add("a", (), (true, true), &LIMITS, at(now));
    for crashes in 1..=14 {
        crash(&mut scheduler, "a", now);
        let job = scheduler.job("a").unwrap();
        // The history has room for so many starts and crashes.
        let crashes = crashes.min(10);
        assert_eq!(job.state(&LIMITS), (State::Crashing, crashes));
        let pause = 30 << (crashes - 1);
        assert!(
            scheduler
                .reschedule(&LIMITS, at(now + pause - 1))
                .is_empty()
        );
        now += pause;
        assert_eq!(started(&scheduler.reschedule(&LIMITS, at(now))), ["a"]);
    }
    // A long run ends the series: the job starts again at once.
    assert_eq!(started(&crash(&mut scheduler, "a", now + 121)), ["a"]);
    let job = scheduler.job("a").unwrap();
    assert_eq!(job.state(&LIMITS), (State::Running, 0));
}

#[test]
fn a_job_without_retries_is_gone_after_its_crash() {
    let mut scheduler = Scheduler::default();
    scheduler.add("a", (), (false, false), &LIMITS, at(0));
    crash(&mut scheduler, "a", 1);
    assert!(scheduler.job("a").is_none());
}

#[test]
fn jobs_take_turns() {
    let mut scheduler = Scheduler::default();
    for (second, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let orders = scheduler.add(id, (), (true, true), &LIMITS, at(second as u64));
        assert_eq!(started(&orders).len(), usize::from(second < 2));
    }
    let state = |scheduler: &Scheduler<()>, id| scheduler.job(id).unwrap().state(&LIMITS).0;
    assert_eq!(state(&scheduler, "c"), State::Pending);
    // The one that has run longest makes room.
    let orders = scheduler.reschedule(&LIMITS, at(60));
    assert_eq!((stopped(&orders), started(&orders)), (vec!["a"], vec!["c"]));
    let orders = scheduler.reschedule(&LIMITS, at(120));
    assert_eq!((stopped(&orders), started(&orders)), (vec!["b"], vec!["d"]));
    let orders = scheduler.reschedule(&LIMITS, at(180));
    assert_eq!((stopped(&orders), started(&orders)), (vec!["c"], vec!["a"]));
    // Nobody waits: nobody stops.
    for id in ["a", "b"] {
        scheduler.remove(id);
    }
    let orders = scheduler.reschedule(&LIMITS, at(240));
    assert_eq!((stopped(&orders), started(&orders)), (vec![], vec!["c"]));
    assert!(scheduler.reschedule(&LIMITS, at(300)).is_empty());
}

#[test]
fn a_lower_limit_stops_continuous_jobs_first() {
    let mut scheduler = Scheduler::default();
    scheduler.add("once", (), (false, true), &LIMITS, at(0));
    scheduler.add("ever", (), (true, true), &LIMITS, at(1));
    let one = Limits {
        max_jobs: 1,
        ..LIMITS
    };
    assert_eq!(stopped(&scheduler.reschedule(&one, at(60))), ["ever"]);
    let none = Limits {
        max_jobs: 0,
        ..LIMITS
    };
    assert_eq!(stopped(&scheduler.reschedule(&none, at(120))), ["once"]);
    assert!(scheduler.reschedule(&none, at(180)).is_empty());
}

#[test]
fn the_end_of_a_job_makes_room_for_another() {
    let mut scheduler = Scheduler::default();
    for id in ["a", "b", "c"] {
        scheduler.add(id, (), (false, true), &LIMITS, at(0));
    }
    let run = scheduler.job("a").unwrap().run().unwrap();
    let orders = scheduler.ended("a", run, None, &LIMITS, at(5));
    assert_eq!(started(&orders), ["c"]);
    assert!(scheduler.job("a").is_none());
    // A run that was stopped reports its end too late.
    assert!(scheduler.ended("a", run, None, &LIMITS, at(6)).is_empty());
}

#[test]
fn a_job_with_the_same_id_replaces_the_other() {
    let mut scheduler = Scheduler::default();
    scheduler.add("a", (), (true, true), &LIMITS, at(0));
    let orders = scheduler.add("a", (), (true, true), &LIMITS, at(1));
    assert_eq!((stopped(&orders), started(&orders)), (vec!["a"], vec!["a"]));
}

#[test]
fn a_history_has_a_limit() {
    let mut history = History::new(at(0));
    for second in 1..50 {
        history.push(EventKind::Started, at(second), LIMITS.max_history);
    }
    assert_eq!(history.events().count(), LIMITS.max_history);
    assert_eq!(history.last_start(), Some(at(49)));
}
