namespace Treepie.Backups;

/// <summary>
/// Throttles a backup so that concurrent commits take priority: while commits are being made, the backup works for a given
/// percentage of the time and pauses for the rest; without commits it never pauses. It keeps its share however busy the
/// writers are, so it always finishes: at 20 percent it takes at most five times as long. Time spent waiting, for example for
/// a network, counts as pause. Not thread-safe.
/// </summary>
/// <remarks>
/// Work is divided into slices of <see cref="_slice"/>: long enough that timers, which have millisecond resolution, keep the
/// share; short enough that a commit waits for one slice only. A throttled backup compresses and hashes on the reading
/// thread, so that its share covers all its work. That thread does not have low priority
/// (<see cref="Storage.Memory.QuietThread"/>): if it were preempted, it would hold resources that writers wait for, and
/// threads that the runtime starts from it would inherit the priority.
/// </remarks>
internal sealed class BackupPace
{
    /// <summary>The percentage at which a backup never pauses, and the lowest percentage allowed.</summary>
    public const int Full = 100, Least = 5;

    private static readonly TimeSpan _slice = TimeSpan.FromMilliseconds(10);

    /// <summary>The resolution of timers.</summary>
    private static readonly TimeSpan _shortestRest = TimeSpan.FromMilliseconds(1);

    /// <summary>
    /// The longest pause after one slice: time during which the machine was suspended must not count as work.
    /// </summary>
    private static readonly TimeSpan _longestRest = TimeSpan.FromSeconds(5);

    private readonly double _restPerWork;
    private readonly TimeProvider _clock;
    private readonly Func<long> _lastCommit;
    private long _began;
    private long _commit;
    private TimeSpan _waited;

    /// <param name="percentWhileWriting">The percentage of time to work during concurrent commits, 5 to 99.</param>
    /// <param name="clock">Measures work and times the pauses.</param>
    /// <param name="lastCommit">Returns the number of the last commit.</param>
    public BackupPace(int percentWhileWriting, TimeProvider clock, Func<long> lastCommit)
    {
        _restPerWork = (Full - percentWhileWriting) / (double)percentWhileWriting;
        _clock = clock;
        _lastCommit = lastCommit;
        Begin();
    }

    /// <summary>Creates the pace of a backup of a database; null if it never pauses.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The percentage is out of range.</exception>
    public static BackupPace? Of(Database database, int percentWhileWriting)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(percentWhileWriting, Least);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(percentWhileWriting, Full);
        return percentWhileWriting == Full
            ? null
            : new BackupPace(
                percentWhileWriting, database.Options.TimeProvider, () => database.Environment.GetStatistics().LastTransactionId);
    }

    /// <summary>The current timestamp, for <see cref="HasWaited"/>.</summary>
    public long Now => _clock.GetTimestamp();

    /// <summary>Called between units of work: pauses the calling thread if a pause is due.</summary>
    public void GiveWay(CancellationToken cancellationToken)
    {
        TimeSpan worked = _clock.GetElapsedTime(_began) - _waited;
        if (worked < _slice)
            return;

        TimeSpan rest = worked * _restPerWork;
        rest = (rest < _longestRest ? rest : _longestRest) - _waited;
        if (rest > TimeSpan.Zero && _lastCommit() != _commit)
        {
            if (rest < _shortestRest)
                return; // continue the slice until the pause it earns is long enough for a timer
            Task.Delay(rest, _clock, cancellationToken).GetAwaiter().GetResult();
        }

        Begin();
    }

    /// <summary>Records the time since a timestamp as spent waiting, at no cost to the writers.</summary>
    public void HasWaited(long since) => _waited += _clock.GetElapsedTime(since);

    private void Begin()
    {
        _began = _clock.GetTimestamp();
        _commit = _lastCommit();
        _waited = TimeSpan.Zero;
    }
}
