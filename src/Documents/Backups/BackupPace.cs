namespace Treepie.Backups;

/// <summary>
/// Lets writers go first: as long as commits go on, a backup works so many percent of its time and rests the others; where nobody
/// writes it never rests. It gets its share whatever others do, so that it ends: a fifth of the time takes at most five times as
/// long. What it waits for anyway, a network for instance, is rest too. One caller at a time.
/// </summary>
/// <remarks>
/// Work is cut into slices of <see cref="_slice"/>: long enough that timers, which go by milliseconds, keep the share, short
/// enough that a commit waits for one slice only. Such a backup compresses and hashes on the thread that reads, so that its share
/// is all that it takes. That thread is no quiet one (<see cref="Storage.Memory.QuietThread"/>): behind others it would hold what
/// writers wait for, and threads that the runtime begins on it would be as quiet.
/// </remarks>
internal sealed class BackupPace
{
    /// <summary>Percent that never rest, and the least that may be asked for.</summary>
    public const int Full = 100, Least = 5;

    private static readonly TimeSpan _slice = TimeSpan.FromMilliseconds(10);

    /// <summary>What timers go by.</summary>
    private static readonly TimeSpan _shortestRest = TimeSpan.FromMilliseconds(1);

    /// <summary>Longest rest after one slice: a machine that was suspended has not worked all the while.</summary>
    private static readonly TimeSpan _longestRest = TimeSpan.FromSeconds(5);

    private readonly double _restPerWork;
    private readonly TimeProvider _clock;
    private readonly Func<long> _lastCommit;
    private long _began;
    private long _commit;
    private TimeSpan _waited;

    /// <param name="percentWhileWriting">Share of its time that it works while others write, 5 to 99.</param>
    /// <param name="clock">Measures work, and rests.</param>
    /// <param name="lastCommit">Number of the last commit of those who go first.</param>
    public BackupPace(int percentWhileWriting, TimeProvider clock, Func<long> lastCommit)
    {
        _restPerWork = (Full - percentWhileWriting) / (double)percentWhileWriting;
        _clock = clock;
        _lastCommit = lastCommit;
        Begin();
    }

    /// <summary>The pace of a backup of a database; null where it never rests.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such share.</exception>
    public static BackupPace? Of(Database database, int percentWhileWriting)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(percentWhileWriting, Least);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(percentWhileWriting, Full);
        return percentWhileWriting == Full
            ? null
            : new BackupPace(
                percentWhileWriting, database.Options.TimeProvider, () => database.Environment.GetStatistics().LastTransactionId);
    }

    /// <summary>A moment, for <see cref="HasWaited"/>.</summary>
    public long Now => _clock.GetTimestamp();

    /// <summary>Between two pieces of work: rests where it is time to, on the calling thread.</summary>
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
                return; // the slice goes on until there is enough of it
            Task.Delay(rest, _clock, cancellationToken).GetAwaiter().GetResult();
        }

        Begin();
    }

    /// <summary>Since a moment it has waited for something that costs the writers nothing.</summary>
    public void HasWaited(long since) => _waited += _clock.GetElapsedTime(since);

    private void Begin()
    {
        _began = _clock.GetTimestamp();
        _commit = _lastCommit();
        _waited = TimeSpan.Zero;
    }
}
