using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>Runs a scenario and holds the engine to its promises all the way.</summary>
[System.Diagnostics.CodeAnalysis.SuppressMessage("Reliability", "CA1001", Justification = "Run disposes what it runs with.")]
internal sealed partial class SimulatedRun
{
    private const int ReaderPlaces = 4;
    private const int MaxOpens = 2;

    private readonly Scenario _scenario;
    private readonly CrashExplorer _explorer;
    private readonly SimulatedDisk _disk;
    private readonly SimulatedClock _clock = new();
    private readonly Random _draw;
    private readonly InlineScheduler _inline = new();
    private readonly SimulatedScheduler? _threads;
    private readonly History _history;
    private readonly ReadTransaction?[] _readers = new ReadTransaction?[ReaderPlaces];
    private readonly List<string>? _story;
    private StorageEnvironment? _environment;
    private long _acknowledged;
    private bool _isFaulty;
    private bool _isCrashDue;
    private bool _isKillDue;
    private long _recovered = -1;

    public SimulatedRun(Scenario scenario, ExplorerShape shape, Tally tally, bool isTold = false)
    {
        _scenario = scenario;
        _explorer = new CrashExplorer(scenario, shape, tally);
        _draw = new Random(scenario.Seed);
        _history = new History(scenario.StartTransaction, scenario.StartModel);
        _acknowledged = scenario.StartTransaction;
        _story = isTold ? [] : null;
        _disk = new SimulatedDisk(_draw, scenario.Start)
        {
            MapsSeeWrites = scenario.MapsSeeWrites,
            CapacityBytes = scenario.CapacityBytes,
            Fault = scenario.Fault,
            Acting = OnDisk,
            Story = _story,
        };
        _isFaulty = scenario.Fault is not null;
        if (scenario.HasThreads)
            _threads = new SimulatedScheduler(new Random(scenario.Seed + 1));
    }

    /// <summary>What the disk holds after <see cref="Run"/>, as programs see it.</summary>
    public DiskImage Image => _disk.Image();

    /// <summary>What was done.</summary>
    public History History => _history;

    /// <summary>Calls the disk answered, of a kind.</summary>
    public int Count(DiskOperation kind) => _disk.Count(kind);

    /// <summary>Runs; throws <see cref="TortureFailure"/> where a promise is broken.</summary>
    public void Run()
    {
        try
        {
            if (_threads is null)
                RunAll();
            else
                _threads.Run(RunAll);
        }
        catch (Exception error) when (error is not TortureFailure || _explorer.Failure is not null)
        {
            throw Explain(_explorer.Failure ?? error);
        }
        catch (TortureFailure failure)
        {
            throw Explain(failure);
        }
        finally
        {
            _disk.Acting = null;
            _disk.PowerOff();
            _threads?.Dispose();
        }

        if (_explorer.Failure is { } broken)
            throw Explain(broken);
    }

    /// <summary>Runs, and gives what the disk has for good: after closing, or, not clean, as if the power had failed before. Returns the last transaction.</summary>
    public long RunAndStop(bool isClean, Action<DiskImage> take)
    {
        Open();
        foreach (Step step in _scenario.Clients[0])
            Do(step);
        if (isClean)
            Close();
        take(new PowerLoss(_disk).None().Build());
        _disk.Acting = null;
        _disk.PowerOff();
        Abandon();
        return _acknowledged;
    }

    private TortureFailure Explain(Exception error)
    {
        Exception inner = error is InvalidOperationException { InnerException: TortureFailure nested } ? nested : error;
        IReadOnlyList<string> end = inner is TortureFailure failure ? failure.Story : inner.ToString().Split('\n');
        string message = inner is TortureFailure ? inner.Message : $"{inner.GetType().Name}: {inner.Message}";
        return new TortureFailure(message, (_story ?? []).Concat(end), inner);
    }

    private void RunAll()
    {
        Open();
        if (_scenario.Clients.Count == 1 || _threads is null)
        {
            foreach (Step step in _scenario.Clients[0])
                Do(step);
        }
        else
        {
            RunClients(_threads);
        }

        Close();
        VerifyEnd();
    }

    /// <summary>All clients at once, as often as the power fails and comes back.</summary>
    private void RunClients(SimulatedScheduler threads)
    {
        var next = new int[_scenario.Clients.Count];
        int running = next.Length;
        var ended = new object();
        for (int client = 0; client < next.Length; client++)
        {
            int own = client;
            threads.Queue(() =>
            {
                try
                {
                    foreach (Step step in _scenario.Clients[own])
                    {
                        if (_disk.HasCrashed || _explorer.Failure is not null)
                            break;
                        Do(step);
                        threads.Yield();
                    }
                }
                finally
                {
                    lock (ended)
                        running--;
                }
            });
        }

        lock (ended)
        {
            while (running > 0)
                threads.Wait(ended);
        }

        if (_disk.HasCrashed && _explorer.Failure is null)
            Recover();
    }

    private void OnDisk(DiskOperation kind, string name)
    {
        if (kind is DiskOperation.Sync or DiskOperation.SyncDirectory or DiskOperation.Rename or DiskOperation.Delete)
            Explore();
        if (_threads is not null && kind is DiskOperation.Sync or DiskOperation.Write && CanYield(name))
            _threads!.Yield(); // asked above
    }

    /// <summary>Where the engine holds no lock: frames and checkpoints. Journal files are made under one.</summary>
    private bool CanYield(string name) =>
        _environment is not null && (name == "data.treepie" || _disk.IsNameDurable(name));

    private void Explore()
    {
        long required = _acknowledged;
        if (_environment is not null && CrashExplorer.Required(_environment, _scenario.Options) is var published && published > _recovered)
            required = Math.Max(required, published); // what was only recovered may be in the system's cache alone until something is built upon it
        _explorer.Explore(_disk, _history, required);
    }

    private void Open()
    {
        var world = new World(_disk, _clock, _draw, IsBackgroundAllowed: _threads is not null)
        {
            Scheduler = _threads is null ? _inline : _threads,
            Ages = new CoarseClock(() => _clock.NowMs),
        };
        for (int attempt = 0; ; attempt++)
        {
            try
            {
                _environment = StorageEnvironment.Open(world, _scenario.Options);
                break;
            }
            catch (StorageException error) when ((_isFaulty || _scenario.CapacityBytes < long.MaxValue) && attempt < MaxOpens)
            {
                _story?.Add($"  → cannot be opened: {error.GetType().Name}: {error.Message}");
                if (attempt == MaxOpens - 1)
                    return; // the disk stays as it is
            }
        }

        VerifyNow("after opening");
    }

    private void Do(Step step)
    {
        _story?.Add(step.ToString());
        if (_environment is null)
            return; // a failing or full disk kept it from being opened

        try
        {
            switch (step.Kind)
            {
                case StepKind.Write:
                    Write(step.Commands[0]);
                    break;
                case StepKind.Throw:
                    WriteAndThrow(step.Commands[0]);
                    break;
                case StepKind.Merge:
                    Merge(step.Commands);
                    break;
                case StepKind.Checkpoint:
                    Checkpoint();
                    break;
                case StepKind.Reopen when _threads is null:
                    Close();
                    VerifyClosed();
                    if (_disk.HasForgotten)
                        _disk.Restart(new PowerLoss(_disk).Draw(_draw, withDamage: false).Build()); // what a failed sync left readable is nothing to go by
                    Open();
                    break;
                case StepKind.Hold:
                    Hold(step.Argument % ReaderPlaces);
                    break;
                case StepKind.LetGo:
                    LetGo(step.Argument % ReaderPlaces);
                    break;
                case StepKind.Look:
                    Look(step.Meanwhile);
                    break;
                case StepKind.Crash:
                    _isCrashDue = true;
                    _isKillDue = false;
                    _disk.CrashAt = _disk.Operations + step.Argument;
                    break;
                case StepKind.Kill:
                    _isCrashDue = true;
                    _isKillDue = true;
                    _disk.CrashAt = _disk.Operations + step.Argument;
                    break;
                case StepKind.Pass:
                    _clock.Advance(TimeSpan.FromMilliseconds(step.Argument));
                    break;
            }

            _inline.RunAll();
        }
        catch (Exception error) when (_disk.HasCrashed && _isCrashDue && error is IOException or StorageException or ObjectDisposedException)
        {
            // The power is off; what was under way may be there or not.
        }
        catch (Exception error) when (_isFaulty && error is StorageException)
        {
            _story?.Add($"  → {error.GetType().Name}: {error.Message}");
        }
        catch (DiskFullException) when (_scenario.CapacityBytes < long.MaxValue)
        {
            _story?.Add("  → the disk is full");
        }

        ThrowIfBroken();
        if (_disk.HasCrashed)
        {
            if (_scenario.Clients.Count == 1)
                Recover();
            return;
        }

        if (_environment is null)
            return;

        Explore();
        ThrowIfBroken();
        VerifyNow("after a step");
    }

    private void Write(IReadOnlyList<Change> changes)
    {
        long id = _environment!.Write(transaction => Perform(transaction, changes)); // it is open between steps
        Acknowledge(id);
    }

    private void WriteAndThrow(IReadOnlyList<Change> changes)
    {
        try
        {
            _environment!.Write<bool>(transaction => // it is open between steps
            {
                Model.Apply(transaction, changes);
                throw new FormatException("on purpose");
            });
        }
        catch (FormatException)
        {
            return;
        }

        throw new TortureFailure("A command that threw was reported as done.");
    }

    private void Merge(IReadOnlyList<IReadOnlyList<Change>> commands)
    {
        var tasks = new List<Task<long>>();
        StorageEnvironment environment = _environment!; // it is open between steps
        environment.Lane.RunExclusive(() =>
        {
            foreach (IReadOnlyList<Change> changes in commands)
                tasks.Add(environment.WriteAsync(transaction => Perform(transaction, changes)).AsTask());
        });
        var monitor = new object();
        lock (monitor)
        {
            while (!tasks.TrueForAll(task => task.IsCompleted))
                (_threads is null ? _inline : (IScheduler)_threads).Wait(monitor);
        }

        for (int i = 0; i < tasks.Count; i++)
        {
            try
            {
                Acknowledge(tasks[i].GetAwaiter().GetResult());
            }
            catch (FormatException) when (commands[i].Any(change => change.Kind == ChangeKind.GiveUp))
            {
                // Undone alone; the others proceed.
            }
        }
    }

    /// <summary>Spans that were read stay as they are, whatever is written, checkpointed and given free meanwhile, for as long as the transaction is open.</summary>
    private void Look(IReadOnlyList<Step> meanwhile)
    {
        using ReadTransaction read = _environment!.BeginRead(); // it is open between steps
        ReadOnlySpan<byte> first = default, last = default;
        foreach (string name in read.TreeNames)
        {
            using Cursor cursor = read.FindTree(name)!.OpenCursor(); // it is among the names
            if (cursor.MoveLast())
                last = cursor.Value;
            if (cursor.MoveFirst())
                first = cursor.Value;
        }

        byte[] firstBytes = first.ToArray(), lastBytes = last.ToArray();
        foreach (Step step in meanwhile)
        {
            if (_disk.HasCrashed || _environment is null)
                break;
            Do(step);
        }

        if (!first.SequenceEqual(firstBytes) || !last.SequenceEqual(lastBytes))
            throw new TortureFailure("The bytes of a value changed while its transaction was open.");
    }

    /// <summary>In the engine, as one of its commands.</summary>
    private long Perform(WriteTransaction transaction, IReadOnlyList<Change> changes)
    {
        Model.Apply(transaction, changes);
        _history.Submit(transaction.TransactionId, changes);
        return transaction.TransactionId;
    }

    private void Acknowledge(long id)
    {
        long published = _environment!.State.Current.TransactionId; // it is open between steps
        if (id > published && published >= _history.First && !_history.At(id).HasSame(_history.At(published))) // a batch that changes nothing is no transaction
            throw new TortureFailure($"Transaction {id} was acknowledged, but {published} is the last one published.");
        if (_scenario.Options.Durability == Durability.Durable && published > _recovered)
            _acknowledged = Math.Max(_acknowledged, Math.Min(id, published));
    }

    private void Checkpoint()
    {
        long before = _environment!.State.Current.TransactionId; // it is open between steps
        _environment.Checkpoint();
        _acknowledged = Math.Max(_acknowledged, before);
    }

    private void Hold(int place)
    {
        LetGo(place);
        _readers[place] = _environment!.BeginRead(); // it is open between steps
    }

    private void LetGo(int place)
    {
        VerifyReaders();
        _readers[place]?.Dispose();
        _readers[place] = null;
    }

    /// <summary>Power came back: what was drawn is on the disk, and everything goes on from there.</summary>
    private void Recover()
    {
        _disk.PowerOff();
        Abandon();
        if (_isKillDue)
        {
            _story?.Add("the process is killed");
            _disk.Resume();
        }
        else
        {
            CrashOutcome outcome = new PowerLoss(_disk).Draw(_draw, withDamage: true);
            _story?.Add("power fails; of what was not synced:");
            _story?.AddRange(outcome.Describe().Select(line => "    " + line));
            _disk.Restart(outcome.Build());
        }

        _isCrashDue = false;
        _isFaulty = false;
        Open();
        using ReadTransaction read = _environment!.BeginRead(); // just opened
        if (read.TransactionId < _acknowledged)
            throw new TortureFailure($"Transaction {_acknowledged} was acknowledged, but recovery ends with {read.TransactionId}.");
        _story?.Add($"again, with transaction {read.TransactionId}");
        _recovered = read.TransactionId;
        if (_isKillDue)
        {
            _history.CutAfter(read.TransactionId);
        }
        else
        {
            _history.Settle(read.TransactionId);
            _acknowledged = read.TransactionId;
        }

        _isKillDue = false;
    }

    /// <summary>Closes what runs on a disk without power.</summary>
    private void Abandon()
    {
        CloseReaders();
        _environment?.Dispose();
        _environment = null;
    }

    private void Close()
    {
        if (_environment is null)
            return;

        VerifyReaders();
        if (!_isFaulty && _scenario.CapacityBytes == long.MaxValue)
            VerifySpace();
        _story?.Add("close");
        CloseReaders();
        StorageEnvironment closing = _environment;
        long last = closing.State.Current.TransactionId;
        bool isStopped = closing.State.Failure is not null;
        closing.Dispose();
        _environment = null;
        ThrowIfBroken();
        if (last > _recovered && !_disk.HasCrashed && !_isFaulty && !isStopped && _scenario.CapacityBytes == long.MaxValue)
            _acknowledged = Math.Max(_acknowledged, last);
    }
}
