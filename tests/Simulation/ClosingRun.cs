using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Simulation;

/// <summary>
/// Closes an environment while writers write, a reader reads, the file shrinks and keys change; sometimes also while threads
/// cannot be started, the disk fails or unexpected errors occur. The next process opens the directory as soon as the lock is
/// free. From then on the old environment must not change anything; acknowledged writes must be there, and writes reported
/// as not kept must not. Everything is determined by the seed.
/// </summary>
/// <param name="seed">Determines the run.</param>
/// <param name="isEncrypted">Whether the environment is encrypted.</param>
/// <param name="stepsPerInterruption">See <see cref="SimulatedScheduler.StepsPerInterruption"/>.</param>
[SuppressMessage("Reliability", "CA1001", Justification = "Run disposes what it runs with.")]
internal sealed class ClosingRun(int seed, bool isEncrypted, int stepsPerInterruption = 0)
{
    private const int Keys = 400;
    private const int Writes = 120;
    private const int Writers = 3;
    private const int SmallGroup = 64;

    /// <summary>Many times the switches that any step needs; a condition not met by then is never met.</summary>
    private const int Patience = 20_000;

    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 256 << 10,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        DecryptedBudgetBytes = 1 << 20,
        DecryptedIdleTime = TimeSpan.FromHours(1),
    };

    private readonly Random _random = new(seed);
    private readonly Trouble _trouble = (Trouble)(((uint)seed % 8) switch { <= 2 => 0, <= 4 => 1, 5 => 2, _ => 3 });
    private readonly SimulatedDisk _disk = new(new Random(seed)) { LeavesGarbage = false };
    private readonly SimulatedClock _clock = new();
    private readonly SimulatedScheduler _threads =
        new(new Random(unchecked(seed + 1))) { StepsPerInterruption = stepsPerInterruption };
    private readonly List<int> _acknowledged = [];
    private readonly List<int> _refused = [];
    private readonly EncryptionKey[] _keys =
        [.. Enumerable.Range(0, 2).Select(number => EncryptionKey.FromBytes(SHA256.HashData(BitConverter.GetBytes(number))))];
    private StorageEnvironment? _environment;
    private Exception? _fault;
    private bool _isTroubled;
    private bool _isNext;
    private int _running;

    private enum Trouble
    {
        None,

        /// <summary>Some threads cannot be started.</summary>
        Threads,

        /// <summary>A write or sync of the journal fails.</summary>
        Journal,

        /// <summary>Checkpoints fail, and then the clock.</summary>
        Clock,
    }

    /// <summary>Number of operations that closing ended early.</summary>
    public int Ended { get; private set; }

    private StorageEnvironment Opened => _environment ?? throw new InvalidOperationException("It is opened first.");

    /// <summary>Runs the simulation. Throws if a guarantee is violated.</summary>
    public void Run()
    {
        try
        {
            _threads.Run(RunAll);
        }
        catch (Exception error) when (_fault is not null)
        {
            throw new InvalidOperationException(_fault.Message, error);
        }
        finally
        {
            _threads.Dispose();
            foreach (EncryptionKey key in _keys)
                key.Dispose();
        }

        if (_fault is { } fault)
            throw new InvalidOperationException($"{_trouble}: {fault.Message}", fault);
    }

    private void RunAll()
    {
        _environment = OpenFirst();
        Fill(_environment);
        if (_trouble == Trouble.Clock)
        {
            // The first batch after a clean close writes a checkpoint, which fails. The code before each later batch reads
            // the clock.
            _environment.Dispose();
            _environment = OpenFirst();
        }

        List<Action> work = ChooseWork();
        _running = work.Count;
        foreach (Action one in work)
            _threads.Queue(() => Guard(one));
        Pass(_trouble == Trouble.Clock ? 0 : _random.Next(60));
        BeginTrouble();
        Pass(_random.Next(_trouble == Trouble.None ? 60 : 400));
        if (_random.Next(4) == 0)
            _ = _environment.DisposeAsync().AsTask();
        else
            _environment.Dispose();
        OpenNext();
        WaitFor(() => _running == 0, "an operation ends");
    }

    /// <summary>
    /// If threads cannot be started, half of the runs have only asynchronous writers, so that no other thread can take over
    /// as commit leader.
    /// </summary>
    private List<Action> ChooseWork()
    {
        var work = new List<Action> { Read, () => WriteAhead(0) };
        if (_trouble == Trouble.Threads && _random.Next(2) == 0)
        {
            work.Add(() => WriteAhead(1));
            return work;
        }

        work.AddRange([Shrink, () => Write(1), () => Write(2)]);
        if (isEncrypted)
            work.AddRange([Rotate, ChangeKey]);
        return work;
    }

    private StorageEnvironment OpenFirst() =>
        Open(new ProcessFiles(_disk, OnChange), new FailingClock(_clock, IsClockFailing), key: 0);

    private void BeginTrouble()
    {
        _isTroubled = _trouble != Trouble.None;
        if (_trouble == Trouble.Journal)
        {
            DiskOperation kind = _random.Next(2) == 0 ? DiskOperation.Write : DiskOperation.Sync;
            int number = _disk.Count(kind) - _disk.CountOfData(kind) + _random.Next(20);
            _disk.Fault = new DiskFault(kind, number, IsForever: false, MarksClean: false, OfData: false);
        }
        else if (_trouble == Trouble.Clock)
        {
            _disk.Fault = new DiskFault(
                DiskOperation.Write, _disk.CountOfData(DiskOperation.Write), IsForever: true, OfData: true);
        }
    }

    private bool IsRefused() => _isTroubled && _trouble == Trouble.Threads && _random.Next(2) == 0;

    private bool IsClockFailing() => _isTroubled && _trouble == Trouble.Clock && _random.Next(8) == 0;

    /// <summary>Lets other threads run in the middle of an operation where the engine holds no lock.</summary>
    private void OnChange(DiskOperation kind, string name)
    {
        if (_isNext)
            Note(
                new InvalidOperationException($"The old environment changes the directory of the next one: {kind} of '{name}'."));
        if (kind is DiskOperation.Write or DiskOperation.Sync && (name == FormatLimits.DataFileName || _disk.IsNameDurable(name)))
            _threads.Yield();
    }

    private void Note(Exception fault) => _fault ??= fault;

    private void Pass(int switches)
    {
        for (; switches > 0; switches--)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(20));
            _threads.Yield();
        }
    }

    private void WaitFor(Func<bool> isSo, string what)
    {
        for (int i = 0; !isSo(); i++)
        {
            if (i == Patience)
                throw new InvalidOperationException($"It never comes to pass that {what}.");
            Pass(1);
        }
    }

    /// <summary>Opens the directory as another process would, as soon as it is not locked.</summary>
    private void OpenNext()
    {
        StorageEnvironment? next = null;
        WaitFor(() => (next = TryOpenNext()) is not null, "the directory is released");
        using (next)
        {
            for (int i = 0; i < 3; i++)
                next!.Write(transaction => transaction.GetOrCreateTree("next").Put(BitConverter.GetBytes(i), new byte[9000]));
            CheckReport report = next!.Check();
            if (!report.IsClean)
                throw new InvalidOperationException($"The check complains: {report.Problems[0]}");
            using ReadTransaction read = next.BeginRead();
            for (int key = 0; key < Keys; key += 10)
                Demand(read.FindTree("t")!.Contains(BitConverter.GetBytes(key)), $"key {key} is gone");
            foreach (int key in _acknowledged)
                Demand(Contains(read, key), $"write {key} was acknowledged and is gone");
            foreach (int key in _refused)
                Demand(!Contains(read, key), $"of write {key} it was said that nothing was kept, and it is there");
        }
    }

    private static bool Contains(ReadTransaction read, int key) =>
        read.FindTree("w")?.Contains(BitConverter.GetBytes(key)) ?? false;

    private static void Demand(bool isSo, string otherwise)
    {
        if (!isSo)
            throw new InvalidOperationException($"In the next process {otherwise}.");
    }

    /// <summary>Tries to open the directory. If the key was being changed, either key may be in force.</summary>
    private StorageEnvironment? TryOpenNext()
    {
        DiskFault? fault = _disk.Fault;
        _disk.Fault = null; // the disk is repaired for the next process, if the directory is unlocked
        for (int key = 0; ; key++)
        {
            try
            {
                StorageEnvironment next = Open(_disk, _clock, key);
                _isNext = true;
                return next;
            }
            catch (EnvironmentLockedException)
            {
                _disk.Fault = fault;
                return null;
            }
            catch (EncryptionKeyException) when (key == 0)
            {
                // Try the other key.
            }
        }
    }

    private static void Fill(StorageEnvironment environment)
    {
        environment.Write(transaction =>
        {
            for (int key = 0; key < Keys; key++)
                transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[key % 7 == 0 ? 9000 : 600]);
            return true;
        });
        environment.Checkpoint();
        environment.Write(transaction =>
        {
            for (int key = 0; key < Keys; key++)
                if (key % 10 != 0)
                    transaction.GetOrCreateTree("t").Delete(BitConverter.GetBytes(key));
            return true;
        });
    }

    private void Guard(Action work)
    {
        try
        {
            work();
        }
        catch (EncryptionKeyException)
        {
            // The key was changed before the rotation.
        }
        catch (Exception error) when (_isTroubled && (error is StorageException || _trouble == Trouble.Clock))
        {
            // The error is reported, as it must be.
        }
        catch (Exception error) when (error is ObjectDisposedException or OperationCanceledException)
        {
            Ended++;
        }
        catch (Exception error)
        {
            Note(error);
        }
        finally
        {
            _running--;
        }
    }

    private void Write(int writer)
    {
        for (int i = 0; i < Writes; i++)
        {
            int key = (i * Writers) + writer;
            if (!TryCommit(key, () => Opened.Write(transaction => Put(transaction, key))))
                return;
            _threads.Yield();
        }
    }

    /// <summary>Starts three writes at a time without waiting for each. Some are canceled before or after they start.</summary>
    private void WriteAhead(int writer)
    {
        for (int i = 0; i < Writes; i += 3)
        {
            using var givingUp = new CancellationTokenSource();
            int givenUp = _random.Next(6); // from 3 on, none is canceled
            var begun = new List<(int Key, Task<bool> Task)>();
            for (int j = 0; j < 3; j++)
            {
                int key = ((i + j) * Writers) + writer;
                Task<bool>? task = null;
                CancellationToken token = j == givenUp ? givingUp.Token : CancellationToken.None;
                if (!TryCommit(
                    key, () => task = Opened.WriteAsync(transaction => Put(transaction, key), token).AsTask(), isDone: false))
                    break;
                begun.Add((key, task!)); // it was started
            }

            if (_random.Next(2) == 0)
                _threads.Yield();
            givingUp.Cancel();
            WaitFor(() => begun.TrueForAll(one => one.Task.IsCompleted), "a write is answered");
            bool isOver = begun.Count < 3;
            foreach ((int key, Task<bool> task) in begun)
            {
                if (task.IsCanceled)
                    _refused.Add(key);
                else
                    isOver |= !TryCommit(key, () => task.GetAwaiter().GetResult());
            }

            if (isOver)
                return;
        }
    }

    /// <summary>Records the result of a write. Returns false if it was not done.</summary>
    private bool TryCommit(int key, Action commit, bool isDone = true)
    {
        try
        {
            commit();
            if (isDone)
                _acknowledged.Add(key);
            return true;
        }
        catch (CommitOutcomeUnknownException) when (_isTroubled)
        {
            return false;
        }
        catch (Exception error)
            when (error is ObjectDisposedException || (_isTroubled && (error is StorageException || _trouble == Trouble.Clock)))
        {
            Ended++;
            _refused.Add(key);
            return false;
        }
    }

    private static bool Put(WriteTransaction transaction, int key) =>
        transaction.GetOrCreateTree("w").Put(BitConverter.GetBytes(key), new byte[700]);

    /// <summary>Reads until after the close.</summary>
    private void Read()
    {
        using ReadTransaction read = Opened.BeginRead("held");
        for (int i = _random.Next(200); i > 0; i--)
        {
            if (!read.FindTree("t")!.Contains(BitConverter.GetBytes(i * 10 % Keys)))
                throw new InvalidOperationException("A read that is open does not see what it saw.");
            _threads.Yield();
        }
    }

    private void Shrink()
    {
        while (true)
            Opened.Shrink();
    }

    private void Rotate()
    {
        for (int i = 0; i < 3; i++)
            Opened.RotateDataKey(_keys[0]);
    }

    private void ChangeKey()
    {
        Pass(20);
        Opened.ChangeKey(_keys[0]);
        Opened.ChangeKey(_keys[1]);
    }

    private StorageEnvironment Open(IFileSystem files, TimeProvider clock, int key) => StorageEnvironment.Open(
        new World(files, clock, new Random(seed), IsBackgroundAllowed: true)
        {
            Scheduler = new FailingThreads(_threads, IsRefused),
            Ages = new CoarseClock(() => _clock.NowMs),
            PagesPerBitmap = SmallGroup,
        },
        isEncrypted ? _options with { EncryptionKey = _keys[key] } : _options);
}
