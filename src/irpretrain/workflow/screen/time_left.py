"""The time left of a run, by its plan and by how long its jobs took until now."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean

from irpretrain.workflow.costs import PlannedTime

# Seconds that a job takes beside its work: Python starts, files are opened.
STARTUP_SECONDS = 2.0

# Planned seconds of jobs that weigh as much as the plan itself: how long short jobs take says little of long ones.
PLAN_WEIGHT = 60.0

# Share of its time until now that a job is expected to take still, once it has taken as long as was expected.
OVERDUE_SHARE = 0.1

# Share of the jobs with work whose size may be unknown where a time is estimated: they may be the long ones.
MAX_UNKNOWN_SHARE = 0.1


@dataclass
class _Ended:
    """Jobs of one kind that have ended."""

    jobs: int = 0
    measured: float = 0.0  # seconds
    planned: float = 0.0  # seconds

    def ratio(self, expected: float) -> float:
        """Return the ratio of measured to planned seconds, drawn to the expected one while few were planned."""
        return (expected * PLAN_WEIGHT + self.measured) / (PLAN_WEIGHT + self.planned)


class TimeLeft:
    """Estimates from the plan's times of jobs, by number; a job of unknown size counts as the mean of its rule."""

    def __init__(self, planned: Mapping[int, PlannedTime]) -> None:
        known_seconds = defaultdict[str, list[float]](list)
        for time in planned.values():
            if time.seconds > 0:
                known_seconds[time.rule].append(time.seconds)
        means = {rule: fmean(seconds) for rule, seconds in known_seconds.items()}
        self._remaining = {
            number: time._replace(seconds=means.get(time.rule, math.nan))
            if math.isnan(time.seconds)
            else time
            for number, time in planned.items()
        }
        self._has_plan = bool(planned)
        self._ended = defaultdict[object, _Ended](_Ended)  # by `_kind`
        self._ended_work = _Ended()
        self._busy_seconds = 0.0

    def end_job(self, number: int, seconds: float) -> None:
        self._busy_seconds += seconds
        time = self._remaining.pop(number, PlannedTime("", 0.0))
        kinds = [self._ended[_kind(time)], *([self._ended_work] if time.seconds > 0 else [])]
        for ended in kinds:
            ended.jobs += 1
            ended.measured += seconds
            ended.planned += STARTUP_SECONDS + time.seconds

    def seconds(
        self, running: Mapping[int, float], elapsed: float, failed: Collection[int] = ()
    ) -> float | None:
        """Return the seconds left; None without a plan, or where it knows the work of too few jobs.

        As many jobs run at a time as until now, on average.

        Args:
            running: seconds since the start of running jobs, by number.
            elapsed: seconds since jobs could start.
            failed: numbers of jobs that do not run again.
        """
        seconds_left, jobs_with_work, unknown_jobs = 0.0, 0, 0
        for number, time in self._remaining.items():
            if number in failed:
                continue
            expected = self._expected_seconds(time)
            jobs_with_work += time.seconds != 0
            unknown_jobs += math.isnan(expected)
            until_now = running.get(number, 0.0)
            job_seconds = STARTUP_SECONDS if math.isnan(expected) else expected
            seconds_left += max(job_seconds - until_now, OVERDUE_SHARE * until_now)
        if not self._has_plan or unknown_jobs > MAX_UNKNOWN_SHARE * jobs_with_work:
            return None
        parallel_jobs = (self._busy_seconds + sum(running.values())) / max(elapsed, 1e-9)
        return seconds_left / max(1.0, parallel_jobs)

    def _expected_seconds(self, time: PlannedTime) -> float:
        """Return the plan's time, times the ratio of ended jobs of its kind, or of all work while few have ended.

        Where the plan knows no work: how long jobs of the kind took.
        """
        planned, ended = STARTUP_SECONDS + time.seconds, self._ended[_kind(time)]
        if time.seconds > 0:
            return planned * ended.ratio(self._ended_work.ratio(1.0))
        return ended.measured / ended.jobs if ended.jobs else planned


def _kind(time: PlannedTime) -> object:
    """Return what jobs share whose times have one ratio to the plan's: the rule, and whether work is planned."""
    return time.rule, "unknown" if math.isnan(time.seconds) else time.seconds > 0
