namespace Treepie.Backups;

/// <summary>
/// Lets writers go first: as long as commits go on, a backup works so many percent of its time and rests the others; where nobody writes it never rests. It gets its share whatever others do, so that it ends: a
/// quarter of the time takes at most four times as long. What it waits for anyway, a network for instance, is rest too. One caller at a time.
/// </summary>
/// <remarks>
/// Work is cut into slices of <see cref="s_slice"/>: long enough that timers, which go by milliseconds, keep the share, short enough that a commit waits for one slice only. Compressing threads lag behind by some
/// milliseconds and work on during a rest; they are quiet (<see cref="Storage.Memory.QuietThread"/>). It is not the thread that is made quiet: one that is scheduled behind others would hold what writers wait for, and
/// threads that the runtime begins on it would be as quiet.
/// </remarks>
internal sealed class BackupPace
{
    /// <summary>Percent that never rest, and the least that may be asked for.</summary>
    public const int Full = 100, Least = 5;

    private static readonly TimeSpan s_slice = TimeSpan.FromMilliseconds(10);

    /// <summary>What timers go by.</summary>
    private static readonly TimeSpan s_shortestRest = TimeSpan.FromMilliseconds(1);

    /// <summary>Longest rest after one slice: a machine that was suspended has not worked all the while.</summary>
    private static readonly TimeSpan s_longestRest = TimeSpan.FromSeconds(5);

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
        return percentWhileWriting == Full ? null : new BackupPace(percentWhileWriting, database.Options.TimeProvider, () => database.Environment.GetStatistics().LastTransactionId);
    }

    /// <summary>Between two pieces of work: rests where it is time to.</summary>
    public ValueTask GiveWayAsync(CancellationToken cancellationToken)
    {
        TimeSpan worked = _clock.GetElapsedTime(_began) - _waited;
        return worked < s_slice ? ValueTask.CompletedTask : RestAsync(worked, cancellationToken);
    }

    /// <summary>Waits for something that costs the writers nothing.</summary>
    public async ValueTask WaitAsync(ValueTask wait)
    {
        long began = _clock.GetTimestamp();
        await wait.ConfigureAwait(false);
        _waited += _clock.GetElapsedTime(began);
    }

    /// <inheritdoc cref="WaitAsync(ValueTask)"/>
    public async ValueTask<T> WaitAsync<T>(ValueTask<T> wait)
    {
        long began = _clock.GetTimestamp();
        T result = await wait.ConfigureAwait(false);
        _waited += _clock.GetElapsedTime(began);
        return result;
    }

    private async ValueTask RestAsync(TimeSpan worked, CancellationToken cancellationToken)
    {
        TimeSpan rest = worked * _restPerWork;
        rest = (rest < s_longestRest ? rest : s_longestRest) - _waited;
        if (rest > TimeSpan.Zero && _lastCommit() != _commit)
        {
            if (rest < s_shortestRest)
                return; // the slice goes on until there is enough of it
            await Task.Delay(rest, _clock, cancellationToken).ConfigureAwait(false);
        }

        Begin();
    }

    private void Begin()
    {
        _began = _clock.GetTimestamp();
        _commit = _lastCommit();
        _waited = TimeSpan.Zero;
    }
}
