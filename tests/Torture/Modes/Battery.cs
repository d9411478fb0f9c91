using System.Diagnostics;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>Runs all modes in turn on any number of threads until the time is over or one of them finds a failure.</summary>
internal sealed class Battery
{
    private readonly Share[] _shares;
    private TortureFailure? _failure;

    /// <param name="modes">The modes, each with its share of the time.</param>
    public Battery(params (IMode Mode, int Weight)[] modes) =>
        _shares = [.. modes.Select(entry => new Share(entry.Mode, entry.Weight))];

    /// <summary>The modes, with the number of pieces done.</summary>
    public IEnumerable<(IMode Mode, long Done)> Done => _shares.Select(share => (share.Mode, share.Done));

    /// <summary>The first failure, or null.</summary>
    public TortureFailure? Failure => Volatile.Read(ref _failure);

    /// <summary>The mode and number of the piece that failed.</summary>
    public string FailedPiece { get; private set; } = "";

    /// <summary>All modes on the simulated disk and <paramref name="more"/>, or only those named.</summary>
    public static Battery Full(long firstSeed, IReadOnlyList<string> only, params (IMode Mode, int Weight)[] more) =>
        new([.. All(only), .. more.Where(entry => only.Count == 0 || only.Contains(entry.Mode.Name))]) { FirstSeed = firstSeed };

    /// <summary>All modes on the simulated disk, or only those named.</summary>
    public static IReadOnlyList<IMode> Modes(IReadOnlyList<string> only) => [.. All(only).Select(entry => entry.Mode)];

    private static IEnumerable<(IMode Mode, int Weight)> All(IReadOnlyList<string> only)
    {
        var bases = new Bases();
        (string Name, Func<IMode> Make, int Weight)[] all =
        [
            (ExhaustiveMode.ModeName, () => new ExhaustiveMode(bases), 30),
            (SeededMode.ModeName, () => new SeededMode(bases), 160),
            (KillsMode.ModeName, () => new KillsMode(bases), 10),
            (FailingCallsMode.ModeName, () => new FailingCallsMode(bases), 20),
            (BitFlipMode.ModeName, () => new BitFlipMode(bases), 10),
            (MixtureMode.ModeName, () => new MixtureMode(bases), 10),
            (ForgeriesMode.ModeName, () => new ForgeriesMode(bases), 5),
            (ForksMode.ModeName, () => new ForksMode(bases), 5),
            (DamageMode.ModeName, () => new DamageMode(bases), 5),
            (ClosingsMode.ModeName, () => new ClosingsMode(), 10),
        ];
        return all.Where(entry => only.Count == 0 || only.Contains(entry.Name)).Select(entry => (entry.Make(), entry.Weight));
    }

    /// <summary>Whether failures are minimized before they are reported.</summary>
    public bool IsMinimising { get; set; } = true;

    /// <summary>Number of the first piece in modes with unlimited pieces.</summary>
    public long FirstSeed { get; init; }

    /// <summary>Runs until the time is over.</summary>
    public void Run(TimeSpan time, int threads, Tally tally)
    {
        var watch = Stopwatch.StartNew();
        Thread[] workers =
            [.. Enumerable.Range(0, threads).Select(_ => new Thread(() => Work(watch, time, tally)) { IsBackground = true })];
        foreach (Thread worker in workers)
            worker.Start();
        foreach (Thread worker in workers)
            worker.Join();
    }

    /// <summary>Runs one whole piece again.</summary>
    public void Repeat(string mode, long piece, Tally tally)
    {
        Share share = Array.Find(_shares, share => share.Mode.Name == mode)
            ?? throw new ArgumentException(
                $"There is no mode '{mode}'; there are {string.Join(", ", _shares.Select(share => share.Mode.Name))}.");
        RunPiece(share, piece, tally);
    }

    private void Work(Stopwatch watch, TimeSpan time, Tally tally)
    {
        while (watch.Elapsed < time && Failure is null)
        {
            // The mode that is furthest below its share of the time.
            Share? next = _shares.Where(share => !share.IsOver).MinBy(share => share.SpentTicks / share.Weight);
            if (next is null)
                return;

            long piece = next.Take();
            if (next.Mode.Pieces == long.MaxValue)
                piece += FirstSeed;
            else if (piece >= next.Mode.Pieces)
            {
                next.IsOver = true;
                continue;
            }

            long start = Stopwatch.GetTimestamp();
            RunPiece(next, piece, tally);
            next.Spend(Stopwatch.GetTimestamp() - start);
        }
    }

    private void RunPiece(Share share, long piece, Tally tally)
    {
        try
        {
            share.Mode.Run(piece, tally);
            share.Finish();
        }
        catch (Exception error)
        {
            TortureFailure failure = error as TortureFailure
                ?? new TortureFailure($"{error.GetType().Name}: {error.Message}", error.ToString().Split('\n'), error);
            if (Interlocked.CompareExchange(ref _failure, failure, null) is not null)
                return;

            FailedPiece = $"{share.Mode.Name}:{piece}";
            if (IsMinimising && failure is { Scenario: { } scenario, Shape: { } shape })
                Volatile.Write(ref _failure, Minimiser.Minimise(scenario, shape, failure));
        }
    }

    private sealed class Share(IMode mode, int weight)
    {
        private long _next;
        private long _done;
        private long _spentTicks;

        public IMode Mode => mode;

        public int Weight => weight;

        public long Done => Interlocked.Read(ref _done);

        public long SpentTicks => Interlocked.Read(ref _spentTicks);

        public bool IsOver { get; set; }

        public long Take() => Interlocked.Increment(ref _next) - 1;

        public void Finish() => Interlocked.Increment(ref _done);

        public void Spend(long ticks) => Interlocked.Add(ref _spentTicks, ticks);
    }
}
