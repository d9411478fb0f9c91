using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Combines files and pages that do not belong together. Two histories start from the same environment, and a file of one is
/// put into the other; a page is stored in another's place or replaced by an old version; a file is missing. Opening must be
/// refused, or find one of the states of one of the histories.
/// </summary>
internal sealed class MixtureMode(Bases bases) : IMode
{
    public const string ModeName = "mixtures";

    private const int PagesOfPiece = 12;
    private const int StepsOfLife = 10;
    private const int OtherSeed = 1_000_000;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece / 4 % 2 == 1;

    public void Run(long piece, Tally tally)
    {
        int seed = unchecked((int)piece), kind = (int)(piece % Bases.Count);
        var random = new Random(seed);
        bool isEncrypted = IsEncrypted(piece);
        var shape = new Scenario
        {
            Seed = 0,
            Clients = [],
            IsEncrypted = isEncrypted,
            Options = Scenario.SmallOptions with { Durability = piece % 4 == 3 ? Durability.Relaxed : Durability.Durable }
        };
        bool areTwins = piece % 5 < 3; // all numbers are equal in both histories; only the chain of hashes distinguishes them
        Life one = Live(seed, seed, shape, kind, tally),
            other = Live(areTwins ? seed : seed + OtherSeed, seed + OtherSeed, shape, kind, tally);
        Life[] lives = [one, other];

        // Each file in turn: from the other history, missing, or as it was at the beginning.
        foreach (string file in one.Left.Files.Keys)
        {
            if (other.Left.Files.TryGetValue(file, out DiskContent? content))
                Verify(one.Left.With(file, content), lives, shape, $"'{file}' of another life", tally);
            if (one.Start.Files.TryGetValue(file, out DiskContent? before))
                Verify(one.Left.With(file, before), lives, shape, $"'{file}' of before", tally);
            Verify(one.Left.Without(file), lives, shape, $"'{file}' gone", tally, one.Required(shape.Options.Durability));
        }

        // Everything that looks like a log, which a user might delete to free space.
        DiskImage bare = one.Left;
        foreach (string file in one.Left.Files.Keys.Where(file => file != FormatLimits.DataFileName))
            bare = bare.Without(file);
        Verify(bare, lives, shape, "all journal files gone", tally, one.Required(shape.Options.Durability));

        DiskContent data = one.Left.Files[FormatLimits.DataFileName];
        int pages = (int)(data.Length / PageLayout.SizeBytes);
        List<(int, int)> twins = Twins(data, pages);
        List<int> changed = one.Start.Files.TryGetValue(FormatLimits.DataFileName, out DiskContent? old)
            ? Changed(old, data)
            : [];
        for (int i = 0; i < PagesOfPiece; i++)
        {
            int page = random.Next(pages);
            bool isOlder = i % 2 == 0 && old is not null;
            if (isOlder && changed.Count > 0)
                page = changed[random.Next(changed.Count)];
            DiskContent source = isOlder && old is not null ? old : data;
            int from = page;
            if (!isOlder && twins.Count > 0)
                (from, page) = twins[random.Next(twins.Count)];
            var bytes = new byte[PageLayout.SizeBytes];
            source.Read(bytes, (long)from * PageLayout.SizeBytes);
            DiskContent mixed = data.Fork();
            mixed.Write(bytes, (long)page * PageLayout.SizeBytes);
            Verify(
                one.Left.With(FormatLimits.DataFileName, mixed), lives, shape,
                isOlder ? $"page {page} as it was before" : $"page {from} in the place of page {page}", tally);
        }
    }

    /// <summary>Pages that differ only in their number: of the same kind and birth.</summary>
    private static List<(int From, int To)> Twins(DiskContent data, int pages)
    {
        var kinds = new Dictionary<(long Birth, PageType Type, int Level), List<int>>();
        var head = new byte[PageLayout.HeaderBytes];
        for (int page = (int)FormatLimits.FirstDataPage; page < pages; page++)
        {
            data.Read(head, (long)page * PageLayout.SizeBytes);
            var header = new Page(head);
            if (header.Number != page)
                continue;
            if (!kinds.TryGetValue((header.Birth, header.Type, header.Level), out List<int>? twins))
                kinds.Add((header.Birth, header.Type, header.Level), twins = []);
            twins.Add(page);
        }

        return [
            .. kinds.Values.SelectMany(
                twins => twins.SelectMany(from => twins.Where(to => to != from).Select(to => (from, to))))];
    }

    /// <summary>Pages whose content differs between the two states.</summary>
    private static List<int> Changed(DiskContent before, DiskContent after)
    {
        var changed = new List<int>();
        byte[] one = new byte[PageLayout.SizeBytes], other = new byte[PageLayout.SizeBytes];
        for (int page = (int)FormatLimits.FirstDataPage; page < before.Length / PageLayout.SizeBytes; page++)
        {
            before.Read(one, (long)page * PageLayout.SizeBytes);
            after.Read(other, (long)page * PageLayout.SizeBytes);
            if (new Page(one).Number == page && !one.AsSpan().SequenceEqual(other))
                changed.Add(page);
        }

        return changed;
    }

    private static void Verify(DiskImage image, Life[] lives, Scenario shape, string what, Tally tally, long required = 0)
    {
        tally.AddRecovery(shape.IsEncrypted);
        what = shape.IsEncrypted ? $"(encrypted) {what}" : what;
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        StorageEnvironment? environment = null;
        try
        {
            environment = StorageEnvironment.Open(
                new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), shape.OptionsWith(0));
            using (ReadTransaction read = environment.BeginRead())
            {
                string? difference = "no such transaction";
                foreach (Life life in lives)
                    if (difference is not null && read.TransactionId <= life.History.Last)
                        difference = life.Before.At(read.TransactionId, life.History).Difference(read);
                if (difference is not null)
                    throw new TortureFailure(
                        $"With {what} something is read that never was (transaction {read.TransactionId}): {difference}.");
                if (read.TransactionId < required)
                    throw new TortureFailure(
                        $"With {what} transaction {read.TransactionId} is found; {required} was acknowledged, and nothing is "
                            + $"said.");
            }

            environment.Check();
        }
        catch (Exception error) when (error is StorageException)
        {
            // The damage is reported, as it must be.
        }
        catch (Exception error) when (error is not TortureFailure)
        {
            throw new TortureFailure(
                $"With {what}: {error.GetType().Name}: {error.Message}", error.ToString().Split('\n'), error);
        }
        finally
        {
            disk.PowerOff();
            environment?.Dispose();
        }
    }

    /// <summary>
    /// Creates a history. One seed determines keys and lengths; the other determines ids, salts and the bytes of values.
    /// </summary>
    private Life Live(int stepsSeed, int seed, Scenario shape, int kind, Tally tally)
    {
        var random = new Random(stepsSeed);
        var steps = new List<Step>();
        for (int i = 0; i < StepsOfLife; i++)
        {
            steps.Add(Step.Write(
                new Change(
                    ChangeKind.Put, random.Next(2), random.Next(4), 1, random.Next(3) == 0 ? 9000 : 200, unchecked(seed + i)),
                new Change(ChangeKind.Fill, 0, 100 + (10 * random.Next(12)), 10, 60, unchecked(seed + i))));
            if (i == 3 && random.Next(2) == 0)
                steps.Add(new Step(StepKind.Checkpoint));
        }

        Scenario scenario = bases.Begin(
            shape with { Seed = seed, Clients = [steps] }, kind);
        DiskImage? left = null;
        var run = new SimulatedRun(scenario, new ExplorerShape { MomentPercent = 0 }, tally);
        long last = run.RunAndStop(isClean: false, image => left = image);
        run.History.CutAfter(last);
        return new Life(
            scenario.Start, left ?? throw new InvalidOperationException("The run left nothing."),
            new Lived(bases.HistoryOf(shape.Options.Durability, kind, shape.IsEncrypted)), run.History);
    }

    /// <summary>The history before this one began.</summary>
    private sealed class Lived(History history)
    {
        public Model At(long transaction, History later) =>
            transaction > later.First ? later.At(transaction) : history.At(transaction);
    }

    private sealed record Life(DiskImage Start, DiskImage Left, Lived Before, History History)
    {
        /// <summary>The last transaction that must not be lost silently.</summary>
        public long Required(Durability durability) => durability == Durability.Durable ? History.Last : 0;
    }
}
