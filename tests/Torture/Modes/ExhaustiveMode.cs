using Treepie.Storage;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Every workload of up to three transactions from a small alphabet, each followed by nothing, a checkpoint, a reopening or
/// a held reader (in an encrypted environment: nothing, a change of the user key, a reopening or a rotation of the data
/// key), in every kind of environment: all crash points, and all subsets of unsynced data up to a bound.
/// </summary>
internal sealed class ExhaustiveMode : IMode
{
    public const string ModeName = "exhaustive";

    private const int MaxTransactions = 3;

    /// <summary>
    /// Spreads the longer workloads, so that a part of them is a sample of all: a prime that divides no number of workloads here.
    /// </summary>
    private const long Stride = 7_368_787;

    private static readonly StepKind?[] _joints = [null, StepKind.Checkpoint, StepKind.Reopen, StepKind.Hold];
    private static readonly StepKind?[] _encryptedJoints = [null, StepKind.ChangeKey, StepKind.Reopen, StepKind.Rotate];
    private static readonly ExplorerShape _shape = new() { AllUpTo = 128, Drawn = 3, ThoroughPercent = 5 };

    private readonly Bases _bases;
    private readonly int _letters;

    public ExhaustiveMode(Bases bases)
    {
        _bases = bases;
        _letters = Alphabet(0).Count * _joints.Length;
    }

    public string Name => ModeName;

    public long Pieces
    {
        get
        {
            long pieces = 0;
            for (int length = 1; length <= MaxTransactions; length++)
                pieces += Count(length);
            return pieces;
        }
    }

    public bool IsEncrypted(long piece) => Make(piece).IsEncrypted;

    public void Run(long piece, Tally tally)
    {
        Scenario scenario = Make(piece);
        try
        {
            new SimulatedRun(scenario, _shape, tally).Run();
        }
        catch (TortureFailure failure)
        {
            throw failure.In(scenario, _shape);
        }
    }

    /// <summary>The possible transactions. <paramref name="at"/> makes the values of each position distinct.</summary>
    private static List<Step> Alphabet(int at) =>
    [
        Step.Write(new Change(ChangeKind.Put, 0, 1, 1, 60, 100 + at)),
        Step.Write(new Change(ChangeKind.Put, 0, 1, 1, 20_000, 200 + at)),
        Step.Write(new Change(ChangeKind.Delete, 0, 1)),
        Step.Write(new Change(ChangeKind.Put, 3, at, 1, 300, 300 + at)),
        Step.Write(new Change(ChangeKind.Drop, 0)),
        Step.Write(new Change(ChangeKind.Fill, 0, 40, 90, 100, 400 + at)),
        new Step(StepKind.Look)
        {
            Meanwhile =
            [
                new Step(StepKind.Checkpoint),
                new Step(StepKind.Sweep, 2),
                Step.Write(new Change(ChangeKind.Reserve, 0, 3, 1, 200, 800 + at)),
                Step.Write(
                    new Change(ChangeKind.Put, 0, 3, 1, 90, 850 + at), new Change(ChangeKind.Put, 1, 3, 1, 30_000, 850 + at)),
            ],
        },
        Step.Write(new Change(ChangeKind.Snapshot, at % 2), new Change(ChangeKind.Put, 0, 1, 1, 50, 900 + at)),
        Step.Write(
            new Change(ChangeKind.DropSnapshot, 0), new Change(ChangeKind.MapPut, 0, 1, 12, 70, 950 + at),
            new Change(ChangeKind.MapRemove, 0, 1 + at)),
        Step.Throw(
            new Change(ChangeKind.Put, 0, 1, 1, 70, 500 + at), new Change(ChangeKind.Put, 2, 1, 1, 7000, 500 + at),
            new Change(ChangeKind.Drop, 1)),
        new Step(StepKind.Merge)
        {
            Commands =
            [
                [new Change(ChangeKind.Put, 0, 2, 1, 80, 600 + at)],
                [new Change(ChangeKind.Put, 0, 2, 1, 90, 650 + at), new Change(
                    ChangeKind.Fill, 0, 200, 40, 100, 650 + at), new Change(ChangeKind.GiveUp, 0)],
                [new Change(ChangeKind.Reserve, 0, 1, 1, 2500, 700 + at), new Change(ChangeKind.Delete, 0, 3)],
            ],
        },
    ];

    private long Count(int length)
    {
        long count = 2 * 2 * Bases.Count;
        for (int i = 0; i < length; i++)
            count *= _letters;
        return count;
    }

    private Scenario Make(long piece)
    {
        int length = 1;
        for (; piece >= Count(length); length++)
            piece -= Count(length);
        if (length > 1)
            piece = (long)((UInt128)(ulong)piece * (ulong)Stride % (ulong)Count(length));

        Durability durability = piece % 2 == 0 ? Durability.Durable : Durability.Relaxed;
        piece /= 2;
        bool isEncrypted = piece % 2 == 1;
        piece /= 2;
        int kind = (int)(piece % Bases.Count);
        piece /= Bases.Count;
        var steps = new List<Step>();
        for (int at = 0; at < length; at++)
        {
            int letter = (int)(piece % _letters);
            piece /= _letters;
            steps.Add(Alphabet(at)[letter / _joints.Length]);
            if ((isEncrypted ? _encryptedJoints : _joints)[letter % _joints.Length] is { } joint)
                steps.Add(new Step(joint, isEncrypted ? 0 : at));
        }

        return _bases.Begin(
            new Scenario
            {
                Seed = 1,
                Clients = [steps],
                IsEncrypted = isEncrypted,
                MapsSeeWrites = (kind + length) % 2 == 0,
                WritesDirectly = (kind + (2 * length)) % 3 == 0,
                Options = Scenario.SmallOptions with { Durability = durability }
            }, kind);
    }
}
