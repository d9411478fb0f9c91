using Treepie.Storage;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Random runs determined by a seed: longer than the exhaustive ones, with several clients, and crash after crash on the
/// same files.
/// </summary>
internal sealed class SeededMode(Bases bases) : IMode
{
    public const string ModeName = "seeds";

    private const int MaxSteps = 28;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => IsEncrypted(Own(unchecked((int)piece)));

    public void Run(long piece, Tally tally)
    {
        Scenario scenario = Make(unchecked((int)piece), out ExplorerShape shape);
        try
        {
            new SimulatedRun(scenario, shape, tally).Run();
        }
        catch (TortureFailure failure)
        {
            throw failure.In(scenario, shape);
        }
    }

    /// <summary>The scenario of a seed.</summary>
    public Scenario Make(int seed, out ExplorerShape shape)
    {
        var random = new Random(seed);
        Random own = Own(seed);
        bool isEncrypted = IsEncrypted(own);
        bool hasThreads = random.Next(3) == 0;
        int keys = random.Next(4) switch { 0 => 8, 1 => 60, _ => 400 };
        int clients = hasThreads ? random.Next(1, 5) : 1;
        var scenario = new Scenario
        {
            Seed = seed,
            Clients = [.. Enumerable.Range(0, clients).Select(client => Steps(random, keys, clients, client, isEncrypted))],
            IsEncrypted = isEncrypted,
            PagesPerBitmap = Scenario.GroupOf(seed),
            MapsSeeWrites = random.Next(3) > 0,
            WritesDirectly = (seed & 4) != 0,
            HasThreads = hasThreads,
            IsScrubbed = true,
            CapacityBytes = random.Next(12) == 0 ? (512 << 10) + random.Next(1 << 20) : long.MaxValue,
            Options = Scenario.SmallOptions with
            {
                Durability = random.Next(4) == 0 ? Durability.Relaxed : Durability.Durable,
                FirstJournalFileBytes = random.Next(2) == 0 ? 16 << 10 : 32 << 10,
                MaxJournalFileBytes = random.Next(2) == 0 ? 32 << 10 : 128 << 10,
                RelaxedDelay = TimeSpan.FromMilliseconds(random.Next(2000)),
                DecryptedIdleTime = TimeSpan.FromMilliseconds(own.Next(1000)),
                ScrubInterval = TimeSpan.FromMilliseconds(1 + own.Next(2000)),
                ScrubBytesPerSecond = 1 << 30,
                ClosingShrinkBytes = seed % 3 == 0 ? 64 << 10 : long.MaxValue,
            },
        };
        shape = new ExplorerShape
        {
            AllUpTo = 8,
            Drawn = 2,
            IsTelling = random.Next(10) == 0,
            MomentPercent = isEncrypted ? own.Next(5, 40) : random.Next(3, 24),
            ThoroughPercent = 5
        };
        return bases.Begin(scenario, random.Next(Bases.Count));
    }

    /// <summary>Separate random numbers for encryption, so that it does not change the other choices of a seed.</summary>
    private static Random Own(int seed) => new(seed ^ 0x5EED);

    /// <summary>Must be the first draw: one in six, because they take four times as long.</summary>
    private static bool IsEncrypted(Random own) => own.Next(6) == 0;

    private static List<Step> Steps(Random random, int keys, int clients, int client, bool isEncrypted)
    {
        var steps = new List<Step>();
        int count = random.Next(3, MaxSteps) / clients;
        for (int i = 0; i <= count; i++)
        {
            int kind = random.Next(isEncrypted ? 124 : 104);
            steps.Add(kind switch
            {
                >= 119 when client == 0 => new Step(StepKind.Rotate, random.Next(3) == 0 ? random.Next(1, 6) : 0),
                >= 115 when client == 0 => new Step(StepKind.ChangeKey),
                >= 112 => new Step(StepKind.Look)
                {
                    Meanwhile =
                    [
                        new Step(StepKind.Sweep, 2), new Step(StepKind.Write) { Commands = [Changes(random, keys)] },
                        new Step(StepKind.Sweep, 2)
                    ],
                },
                >= 107 => new Step(StepKind.Sweep, random.Next(1, 4)),
                >= 104 => new Step(StepKind.Release, random.Next(8)),
                >= 100 => Session(random, keys),
                < 60 => new Step(StepKind.Write) { Commands = [Changes(random, keys)] },
                < 66 => new Step(StepKind.Throw) { Commands = [Changes(random, keys)] },
                < 72
                    when clients == 1 => new Step(StepKind.Merge)
                    {
                        Commands =
                            [.. Enumerable.Range(0, random.Next(2, 6)).Select(_ => Sometimes(random, Changes(random, keys)))]
                    },
                < 82 => new Step(StepKind.Checkpoint),
                < 86 => new Step(StepKind.Hold, random.Next(8)),
                < 89 => new Step(StepKind.LetGo, random.Next(8)),
                < 90 => new Step(StepKind.Reopen),
                < 91 => new Step(StepKind.Shrink),
                < 93 => new Step(StepKind.Look)
                {
                    Meanwhile =
                    [
                        random.Next(2) == 0
                            ? new Step(StepKind.Pass, 1)
                            : new Step(StepKind.Write) { Commands = [Changes(random, keys)] },
                        new Step(StepKind.Checkpoint),
                        .. isEncrypted ? (Step[])[new Step(StepKind.Sweep, 2)] : [],
                        new Step(StepKind.Write) { Commands = [Changes(random, keys)] },
                        new Step(StepKind.Write) { Commands = [Changes(random, keys)] },
                    ],
                },
                < 95 when client == 0 && clients == 1 => new Step(StepKind.Kill, random.Next(20)),
                < 98 when client == 0 => new Step(StepKind.Crash, random.Next(random.Next(2) == 0 ? 12 : 60)),
                _ => new Step(StepKind.Pass, random.Next(3000)),
            });
        }

        return steps;
    }

    /// <summary>A session over a few keys. Concurrent writes may or may not touch them.</summary>
    private static Step Session(Random random, int keys)
    {
        var changes = new Change[random.Next(1, 4)];
        for (int i = 0; i < changes.Length; i++)
            changes[i] = new Change(
                random.Next(3) == 0 ? ChangeKind.Delete : ChangeKind.Put, random.Next(3), random.Next(Math.Min(keys, 20)) * 5, 1,
                random.Next(300), random.Next(1_000_000));
        return new Step(StepKind.Session)
        {
            Commands = [changes],
            Meanwhile = random.Next(3) == 0
                ? []
                : [new Step(StepKind.Write) { Commands = [Changes(random, keys)] }, new Step(StepKind.Checkpoint)],
        };
    }

    /// <summary>Lets one command in four abort at its end.</summary>
    private static Change[] Sometimes(Random random, Change[] changes) =>
        random.Next(4) == 0 ? [.. changes, new Change(ChangeKind.GiveUp, 0)] : changes;

    private static Change[] Changes(Random random, int keys)
    {
        var changes = new Change[random.Next(5) == 0 ? random.Next(1, 20) : random.Next(1, 4)];
        for (int i = 0; i < changes.Length; i++)
        {
            int kind = random.Next(120);
            int tree = random.Next(random.Next(4) + 1);
            int key = random.Next(keys), version = random.Next(1_000_000);
            int length = random.Next(100) switch
            {
                < 75 => random.Next(120),
                < 95 => random.Next(2200),
                _ =>
                random.Next(40_000)
            };
            changes[i] = kind switch
            {
                < 40 => new Change(ChangeKind.Put, tree, key, 1, length, version),
                < 55 => new Change(ChangeKind.Reserve, tree, key, 1, length, version),
                < 80 => new Change(ChangeKind.Delete, tree, key),
                < 86 => new Change(ChangeKind.Fill, tree, key, random.Next(80), random.Next(200), version),
                < 93 => new Change(ChangeKind.Clear, tree, key, random.Next(120)),
                < 97 => new Change(ChangeKind.Create, tree),
                < 100 => new Change(ChangeKind.Drop, tree),
                < 107 => new Change(ChangeKind.MapPut, tree, key, random.Next(4) == 0 ? random.Next(60) : 1, length, version),
                < 111 => new Change(ChangeKind.MapRemove, tree, key, random.Next(40)),
                < 112 => new Change(ChangeKind.MapDrop, tree),
                < 114 => new Change(ChangeKind.Snapshot, tree),
                < 116 => new Change(ChangeKind.DropSnapshot, tree),
                _ => new Change(ChangeKind.Pack, tree),
            };
        }

        return changes;
    }
}
