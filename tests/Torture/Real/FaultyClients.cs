using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Torture.Real;

/// <summary>
/// Clients of an environment whose system fails from some moment on: each judges what it sees by what the fault may lead to.
/// </summary>
internal sealed class FaultyClients(StorageEnvironment environment, SystemFault fault, int seed, Action<string> say)
{
    private const int AttemptsAfter = 12;
    private const int Deletes = 20;
    private const int MaxPauseMs = 3;

    private readonly long[] _acknowledged = new long[FaultyLedger.Clients];
    private Thread[] _threads = [];
    private Exception? _failure;
    private long _attempts;
    private int _begun;
    private volatile bool _isOver;
    private volatile bool _hasStopped;
    private volatile bool _isFaulty;
    private volatile bool _isFaultInForce;

    /// <summary>Whether something may fail by now.</summary>
    public bool IsFaulty
    {
        get => _isFaulty;
        set => _isFaulty = value;
    }

    /// <summary>Whether the calls are refused by now.</summary>
    public bool IsFaultInForce
    {
        get => _isFaultInForce;
        set => _isFaultInForce = value;
    }

    private bool IsNothingDurable => fault.StopsEverything
        || (fault.StopsSyncs && environment.GetStatistics().JournalSyncMethod == JournalSyncMethod.Cached);

    /// <summary>Starts the threads.</summary>
    public void Start()
    {
        _threads =
        [
            .. Enumerable.Range(0, FaultyLedger.RoomClient).Select(client => Begin(random => Write(client, random))),
            Begin(Read),
            Begin(KeepHouse),
        ];
    }

    /// <summary>Waits until clients have tried to write so often.</summary>
    public void WaitForAttempts(int attempts)
    {
        while (Interlocked.Read(ref _attempts) < attempts && Volatile.Read(ref _failure) is null)
            Thread.Yield();
    }

    /// <summary>Waits until every writer has had some outcomes under the fault, then deletes, and reads everything.</summary>
    public void Finish()
    {
        foreach (Thread writer in _threads.AsSpan(0, FaultyLedger.RoomClient))
            writer.Join();
        _isOver = true;
        foreach (Thread thread in _threads)
            thread.Join();
        for (int i = 0; i < Deletes && _failure is null; i++)
            Try(FaultyLedger.RoomClient, mayBeFull: false);
        if (_failure is null)
            Judge(Verify, StaysReadable);
        if (_failure is { } failure)
            throw new InvalidOperationException(failure.Message, failure);
    }

    private Thread Begin(Action<Random> work)
    {
        int number = seed + Interlocked.Increment(ref _begun);
        var thread = new Thread(() =>
        {
            try
            {
                work(new Random(number));
            }
            catch (Exception error)
            {
                Interlocked.CompareExchange(ref _failure, error, null);
                _isOver = true;
            }
        })
        {
            IsBackground = true
        };
        thread.Start();
        return thread;
    }

    private void Write(int client, Random random)
    {
        for (int after = 0; after < AttemptsAfter && !_isOver;)
        {
            if (IsFaultInForce)
                after++;
            if (!Try(client, mayBeFull: true))
                Thread.Sleep(random.Next(MaxPauseMs));
        }
    }

    /// <summary>Runs a command of a client; returns whether it was acknowledged. Throws if that is not what may happen.</summary>
    private bool Try(int client, bool mayBeFull)
    {
        bool wasInForce = IsFaultInForce, hadStopped = _hasStopped;
        say($"try {client};");
        Interlocked.Increment(ref _attempts);
        try
        {
            long number = environment.Write(transaction => FaultyLedger.WriteNext(transaction, client));
            Volatile.Write(ref _acknowledged[client], number);
            say($"ack {client} {number};");
            if (hadStopped)
                throw new InvalidOperationException("A write was acknowledged after writing had stopped.");
            if (wasInForce && IsNothingDurable)
                throw new InvalidOperationException("A write was acknowledged that no call can have made durable.");
            return true;
        }
        catch (StorageException error) when (IsFaulty && MayBe(error, mayBeFull, hadStopped))
        {
            _hasStopped |= error is WritingStoppedException or CommitOutcomeUnknownException;
            say(error is CommitOutcomeUnknownException ? $"unknown {client};" : $"no {client};");
            return false;
        }
    }

    private bool MayBe(StorageException error, bool mayBeFull, bool hadStopped)
    {
        bool isStop = error is WritingStoppedException or CommitOutcomeUnknownException;
        return fault.Outcome switch
        {
            FaultOutcome.Full => error is DiskFullException && mayBeFull,
            FaultOutcome.NoCheckpoint or FaultOutcome.Unreadable => !isStop,
            FaultOutcome.Stop => !hadStopped || error is WritingStoppedException,
            _ => false,
        };
    }

    /// <summary>Whether a read may fail so.</summary>
    private bool StaysReadable(StorageException error) => IsFaulty && fault.Outcome == FaultOutcome.Unreadable;

    private void Read(Random random)
    {
        while (!_isOver)
        {
            Judge(Verify, StaysReadable);
            Thread.Sleep(random.Next(MaxPauseMs));
        }
    }

    /// <summary>Reads what was acknowledged before. The reader stays open for a moment, so that pages are held.</summary>
    private void Verify()
    {
        var acknowledged = new long[FaultyLedger.Clients];
        for (int client = 0; client < acknowledged.Length; client++)
            acknowledged[client] = Volatile.Read(ref _acknowledged[client]);
        using ReadTransaction read = environment.BeginRead();
        FaultyLedger.Verify(read, acknowledged, null);
        Thread.Yield();
        FaultyLedger.Verify(read, acknowledged, null);
    }

    private void KeepHouse(Random random)
    {
        while (!_isOver)
        {
            Judge(() => environment.Checkpoint(), _ => IsFaulty && fault.Outcome != FaultOutcome.Nothing);
            environment.Sweeper?.Sweep();
            Thread.Sleep(random.Next(MaxPauseMs));
        }
    }

    private static void Judge(Action action, Func<StorageException, bool> may)
    {
        try
        {
            action();
        }
        catch (StorageException error) when (may(error))
        {
            // It is what the fault leads to.
        }
    }
}
