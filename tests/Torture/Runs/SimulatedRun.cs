using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>Runs a scenario and verifies the guarantees of the engine throughout.</summary>
[System.Diagnostics.CodeAnalysis.SuppressMessage("Reliability", "CA1001", Justification = "Run disposes what it runs with.")]
internal sealed class SimulatedRun
{
    private const int MaxOpens = 2;

    private readonly Scenario _scenario;
    private readonly RunState _state;
    private readonly ClientCommands _commands;
    private readonly HeldReaders _readers;
    private readonly CrashExplorer _explorer;
    private readonly SimulatedDisk _disk;
    private readonly SimulatedClock _clock = new();
    private readonly Random _draw;
    private readonly Random _commandDraw;
    private readonly InlineScheduler _inline = new();
    private readonly SimulatedScheduler? _threads;
    private readonly History _history;
    private readonly List<string>? _story;
    private readonly List<int> _syncs = [];
    private readonly NonceRecorder _seals;
    private readonly Tally _tally;
    private readonly SecretDraw _secrets;
    private bool _isCrashDue;
    private bool _isKillDue;

    /// <param name="scenario">The steps.</param>
    /// <param name="shape">How thoroughly crash states are explored.</param>
    /// <param name="tally">Where results are counted.</param>
    /// <param name="isTold">Whether events are logged.</param>
    /// <param name="seals">
    /// Observer of encryption, if it has already observed another run with a copy of the same directory.
    /// </param>
    public SimulatedRun(Scenario scenario, ExplorerShape shape, Tally tally, bool isTold = false, NonceRecorder? seals = null)
    {
        _scenario = scenario;
        _seals = seals ?? new NonceRecorder();
        _tally = tally;
        _secrets = new SecretDraw(scenario.Seed);
        _explorer = new CrashExplorer(scenario, shape, tally, _seals);
        _draw = new Random(scenario.Seed);
        _commandDraw = new Random(scenario.Seed + 2);
        _history = new History(scenario.StartTransaction, scenario.StartModel);
        _story = isTold ? [] : null;
        _disk = scenario.MakeDisk(_draw, _clock, OnDisk, _story);
        _isCrashDue = _isKillDue = scenario.Fault is { KillAfter: >= 0 };
        _state = new RunState(scenario, _disk, _history, _story);
        _readers = new HeldReaders(_state);
        if (scenario.HasThreads)
            _threads = new SimulatedScheduler(new Random(scenario.Seed + 1));
        _commands = new ClientCommands(_state)
        {
            YieldInCommand = scenario.IsEncrypted && _threads is not null ? YieldInCommand : null
        };
    }

    /// <summary>The content of the disk after <see cref="Run"/>, as programs see it.</summary>
    public DiskImage Image => _disk.Image();

    /// <summary>The submitted commands.</summary>
    public History History => _history;

    /// <summary>Numbers of the disk operations that were syncs.</summary>
    public IReadOnlyList<int> Syncs => _syncs;

    /// <summary>Number of disk calls of a kind.</summary>
    public int Count(DiskOperation kind) => _disk.Count(kind);

    /// <summary>Number of disk calls of a kind on the data file.</summary>
    public int CountOfData(DiskOperation kind) => _disk.CountOfData(kind);

    /// <summary>Runs the scenario. Throws <see cref="TortureFailure"/> if a guarantee is violated.</summary>
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
            _tally.AddSeals(_seals.Seals);
        }

        if (_explorer.Failure is { } broken)
            throw Explain(broken);
    }

    /// <summary>
    /// Runs the scenario and passes on the durable state of the disk: after a clean close, or as if the power had failed
    /// before it. Returns the last transaction.
    /// </summary>
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
        return _state.Acknowledged;
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

    /// <summary>Runs all clients concurrently, again after each power failure.</summary>
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

    /// <summary>
    /// Lets other threads run in the middle of a command. Often one of them releases decrypted pages, and has to wait for
    /// the command.
    /// </summary>
    private void YieldInCommand()
    {
        if (_commandDraw.Next(3) == 0)
            _threads!.Queue(Sweep); // only used with threads
        for (int i = 0; i < 3; i++)
            _threads!.Yield(); // only used with threads
    }

    private void Sweep()
    {
        try
        {
            _state.Environment?.Sweeper?.Sweep();
        }
        catch (Exception error) when (error is IOException or StorageException or ObjectDisposedException)
        {
            // The power is off, or the environment was closed.
        }
    }

    private void OnDisk(DiskOperation kind, string name)
    {
        if (kind is DiskOperation.Sync or DiskOperation.SyncDirectory)
            _syncs.Add(_disk.Operations);
        if (kind is DiskOperation.Sync or DiskOperation.SyncDirectory or DiskOperation.Rename or DiskOperation.Delete)
            Explore();
        if (_threads is not null && kind is DiskOperation.Sync or DiskOperation.Write && CanYield(name))
            _threads!.Yield(); // checked above
    }

    /// <summary>Whether the engine holds no lock: for frames and checkpoints. Journal files are created under a lock.</summary>
    private bool CanYield(string name) =>
        _state.Environment is not null && (name == "data.treepie" || _disk.IsNameDurable(name));

    private void Explore()
    {
        long required = _state.Acknowledged;
        if (_state.Environment is not null
            && CrashExplorer.Required(_state.Environment, _scenario.Options) is var published
            && published > _state.Recovered)
            // What was only recovered may be in the system's cache alone until something is built on it.
            required = Math.Max(required, published);
        _explorer.Explore(_disk, _history, required, _state.Keys);
    }

    private void Open()
    {
        var world = new World(_disk, _clock, _draw, IsBackgroundAllowed: _threads is not null)
        {
            Scheduler = _threads is null ? _inline : _threads,
            Ages = new CoarseClock(() => _clock.NowMs),
            PagesPerBitmap = _scenario.PagesPerBitmap,
            Secrets = _secrets.Fill,
            Seals = _scenario.IsEncrypted ? _seals.Observer : null,
        };
        for (int attempt = 0; ; attempt++)
        {
            try
            {
                _state.Environment = CrashVerifier.Open(world, _scenario, _state.Keys, out int key);
                _state.Keys = [key, .. _state.Keys.Where(other => other != key)];
                break;
            }
            catch (Exception error) when (_disk.HasCrashed && _isCrashDue && error is IOException or StorageException)
            {
                Recover(); // the next process opens it: this one was killed during the retry
                return;
            }
            catch (StorageException error)
                when ((_state.IsFaulty || _scenario.CapacityBytes < long.MaxValue) && attempt < MaxOpens)
            {
                _story?.Add($"  → cannot be opened: {error.GetType().Name}: {error.Message}");
                if (attempt == MaxOpens - 1)
                    return; // give up; the disk stays as it is
            }
        }

        VerifyNow("after opening");
    }

    private void Do(Step step)
    {
        _story?.Add(step.ToString());
        if (_state.Environment is null)
            return; // a failing or full disk prevented opening

        try
        {
            switch (step.Kind)
            {
                case StepKind.Write:
                    _commands.Write(step.Commands[0]);
                    break;
                case StepKind.Throw:
                    _commands.WriteAndThrow(step.Commands[0]);
                    break;
                case StepKind.Merge:
                    _commands.Merge(step.Commands, _threads is null ? _inline : _threads);
                    break;
                case StepKind.Checkpoint:
                    _commands.Checkpoint();
                    break;
                case StepKind.Reopen when _threads is null:
                    Close();
                    VerifyClosed();
                    if (_disk.HasForgotten)
                        // Data that a failed sync left readable is not reliable.
                        _disk.Restart(new PowerLoss(_disk).Draw(_draw, withDamage: false).Build());
                    Open();
                    if (_state.IsFaulty && _state.Environment is { } opened)
                        // What the failed sync did not write may be in the system's cache alone.
                        _state.Recovered = opened.State.Current.TransactionId;
                    break;
                case StepKind.Hold:
                    _readers.Hold(step.Argument);
                    break;
                case StepKind.LetGo:
                    _readers.LetGo(step.Argument);
                    break;
                case StepKind.Look:
                    _commands.Look(step.Meanwhile, Do);
                    break;
                case StepKind.Session:
                    _commands.RunSession(step.Commands[0], step.Meanwhile, Do);
                    break;
                // Not with several clients on a full disk, which runs commands again under other numbers.
                case StepKind.Shrink when _scenario.Clients.Count == 1 || _scenario.CapacityBytes == long.MaxValue:
                    _commands.Shrink();
                    break;
                case StepKind.ChangeKey when _scenario.IsEncrypted:
                    _commands.ChangeKey();
                    break;
                // Same as for Shrink.
                case StepKind.Rotate
                    when _scenario.IsEncrypted && (_scenario.Clients.Count == 1 || _scenario.CapacityBytes == long.MaxValue):
                    _commands.RotateDataKey(step.Argument);
                    break;
                case StepKind.Sweep when _scenario.IsEncrypted:
                    for (int i = 0; i < step.Argument; i++)
                        _state.Open.Sweeper?.Sweep();
                    break;
                case StepKind.Release:
                    _readers.Release(step.Argument);
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
            if (_scenario.IsScrubbed && _threads is null && _disk.Operations % 4 == 0 && !_disk.HasCrashed)
                QuietOracle.VerifyScrub(_state.Environment); // with threads it runs by itself, as time passes
        }
        catch (Exception error)
            when (_disk.HasCrashed && _isCrashDue && error is IOException or StorageException or ObjectDisposedException)
        {
            // The power is off. Operations in progress may or may not have taken effect.
        }
        catch (Exception error) when (_state.IsFaulty && error is StorageException)
        {
            _story?.Add($"  → {error.GetType().Name}: {error.Message}");
        }
        catch (DiskFullException) when (_scenario.CapacityBytes < long.MaxValue)
        {
            _story?.Add("  → the disk is full");
        }

        ThrowIfBroken();
        if (_scenario.Fault is { Kind: DiskOperation.Load }
            && !_disk.HasCrashed
            && _state.Environment?.State.Failure is { } stopped)
            throw new TortureFailure($"A page that could not be read stopped writing: {stopped.Message}");
        if (_isKillDue && _state.Environment?.State.Failure is not null)
            _disk.PowerOff(); // it no longer writes, so it would never reach the operation at which it is to be killed
        if (_disk.HasCrashed)
        {
            if (_scenario.Clients.Count == 1)
                Recover();
            return;
        }

        if (_state.Environment is null)
            return;

        Explore();
        ThrowIfBroken();
        VerifyNow("after a step");
    }

    /// <summary>Recovers after a power failure or kill: draws what the disk holds and continues from there.</summary>
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
        _state.IsFaulty = false;
        _explorer.IsAfterCrash = true;
        Open();
        using ReadTransaction read = _state.Open.BeginRead();
        if (read.TransactionId < _state.Acknowledged)
            throw new TortureFailure(
                $"Transaction {_state.Acknowledged} was acknowledged, but recovery ends with {read.TransactionId}.");
        _story?.Add($"again, with transaction {read.TransactionId}");
        _state.Recovered = read.TransactionId;
        if (_isKillDue)
        {
            _history.CutAfter(read.TransactionId);
        }
        else
        {
            _history.Settle(read.TransactionId);
            _state.Acknowledged = read.TransactionId;
            _state.Keys = [_state.Keys[0]]; // only the durable state exists
        }

        _isKillDue = false;
    }

    /// <summary>Closes the environment on a disk without power.</summary>
    private void Abandon()
    {
        _readers.Close();
        _state.Environment?.Dispose();
        _state.Environment = null;
    }

    private void Close()
    {
        if (_state.Environment is null)
            return;

        _readers.Verify();
        if (!_state.IsFaulty && _scenario.CapacityBytes == long.MaxValue)
            VerifySpace();
        _story?.Add("close");
        _readers.Close();
        StorageEnvironment closing = _state.Environment;
        long last = closing.State.Current.TransactionId;
        bool isStopped = closing.State.Failure is not null;
        closing.Dispose();
        _state.Environment = null;
        ThrowIfBroken();
        if (last > _state.Recovered
            && !_disk.HasCrashed
            && !_state.IsFaulty
            && !isStopped
            && _scenario.CapacityBytes == long.MaxValue)
            _state.Acknowledged = Math.Max(_state.Acknowledged, last);
    }

    private void VerifyEnd()
    {
        if (_disk.HasCrashed)
            _disk.Restart(new PowerLoss(_disk).Draw(_draw, withDamage: true).Build());
        VerifyClosed();
    }

    /// <summary>Verifies the content of the closed environment on a copy of the disk.</summary>
    private void VerifyClosed()
    {
        QuietOracle.VerifySalts(_disk.Image());
        new CrashVerifier(_scenario, _tally, _seals).Verify(
            new PowerLoss(_disk).None().Build(), _history, _state.Acknowledged, _state.Keys, isThorough: false);
    }

    private void VerifyNow(string when)
    {
        if (_state.Environment is not null && (_threads is null || !_disk.HasCrashed))
            _readers.VerifyNow(when);
    }

    private void VerifySpace()
    {
        StorageEnvironment environment = _state.Open;
        if (_disk.HasCrashed || _isCrashDue || environment.State.Failure is not null)
            return;

        _readers.Close();

        // With a change before each, because a checkpoint without changes writes nothing. The second releases what the first
        // still held.
        for (int i = 0; i < 2; i++)
        {
            _commands.Write([new Change(ChangeKind.Put, 2, Key: 0, Length: 10, Version: i)]);
            ThrowIfBroken();
            _commands.Checkpoint();
            ThrowIfBroken();
        }

        QuietOracle.VerifySpace(environment);
        if (environment.Cipher is { } cipher)
        {
            QuietOracle.VerifyZeroed(environment);
            QuietOracle.VerifyJournalKeys(cipher);
        }
    }

    private void ThrowIfBroken()
    {
        if (_explorer.Failure is { } failure)
            throw failure;
        if (_seals.Failure is { } repeated)
            throw new TortureFailure(repeated);
    }
}
